#include "core/store/file/detail/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <sstream>

#include <unistd.h>

#include "core/base/process_file.h"

namespace batchscope::store::detail {

namespace {

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

std::string boot_id() {
  std::ifstream stream("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(stream, id);
  return id;
}

/// Empty if it cannot be read.
std::string link_target(const char* link) {
  std::array<char, 256> target{};
  const auto length = ::readlink(link, target.data(), target.size());
  return length < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(length));
}

/// Start time of a process in /proc; 0 for a dead process, nothing if it cannot be read.
std::optional<std::int64_t> start_of(const std::string& process) {
  const auto stat = process_stat(process);
  if (!stat)
    return std::nullopt;
  return stat->has_ended() ? 0 : static_cast<std::int64_t>(stat->started);
}

/// Asks the kernel rather than /proc, which may hide other users' processes or belong to another PID namespace.
bool is_number_free(std::int64_t pid) {
  if (pid <= 0 || pid > std::numeric_limits<pid_t>::max())
    return true;
  return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

/// The open stores of this process. All stores and readers of the process must see the same set, whichever file they
/// are for, so there is only one.
class OpenStores {
public:
  static OpenStores& of_this_process() {
    static OpenStores stores;
    return stores;
  }

  std::int64_t add() {
    const std::lock_guard lock(mutex_);
    numbers_.insert(++last_);
    return last_;
  }
  void remove(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    numbers_.erase(number);
  }
  bool contains(std::int64_t number) {
    const std::lock_guard lock(mutex_);
    return numbers_.contains(number);
  }

private:
  std::mutex mutex_;
  std::set<std::int64_t> numbers_; ///< guarded by mutex_
  std::int64_t last_ = 0;          ///< guarded by mutex_
};

} // namespace

OpenStore::OpenStore() : number_(OpenStores::of_this_process().add()) {}

OpenStore::~OpenStore() {
  OpenStores::of_this_process().remove(number_);
}

ProcessIdentity this_process() {
  return {.host = host_name(),
          .boot = boot_id(),
          .pids = link_target("/proc/self/ns/pid"),
          .pid = ::getpid(),
          .started = start_of("self").value_or(0)};
}

std::string boot_text(const ProcessIdentity& process) {
  return process.boot + ' ' + process.pids + ' ' + std::to_string(process.store);
}

void set_boot_text(ProcessIdentity& process, const std::string& text) {
  const auto first = text.find(' ');
  const auto last = text.rfind(' ');
  process.boot = text.substr(0, first);
  process.pids.clear();
  process.store = 0;
  if (first == last)
    return;
  process.pids = text.substr(first + 1, last - first - 1);
  std::istringstream(text.substr(last)) >> process.store;
}

bool is_gone(const ProcessIdentity& process) {
  const ProcessIdentity self = this_process();
  if (process.host != self.host || process.boot.empty() || self.boot.empty())
    return false;
  if (process.boot != self.boot)
    return true;
  if (!process.pids.empty() && process.pids != self.pids)
    return false;
  if (is_number_free(process.pid))
    return true;
  if (process.pid == self.pid && process.started == self.started)
    return process.store > 0 && !OpenStores::of_this_process().contains(process.store);
  // In a container without its own /proc, the existing one shows other processes.
  if (link_target("/proc/self") != std::to_string(self.pid))
    return false;
  const auto start = start_of(std::to_string(process.pid));
  return start && process.started != 0 && *start != process.started;
}

} // namespace batchscope::store::detail
