#include "core/store/file/detail/process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
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
  std::error_code ignored;
  return std::filesystem::read_symlink(link, ignored).string();
}

/// Asks the kernel rather than /proc, which may hide other users' processes or belong to another PID namespace.
bool is_number_free(std::int64_t pid) {
  if (pid <= 0 || pid > std::numeric_limits<pid_t>::max())
    return true;
  return ::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
}

/// The open stores of this process. All stores and readers of the process must see the same set, whichever file they
/// are for, so there is only one.
struct OpenStores {
  std::mutex mutex;
  std::set<std::int64_t> numbers; ///< guarded by mutex
  std::int64_t last = 0;          ///< guarded by mutex
};

OpenStores& open_stores() {
  static OpenStores stores;
  return stores;
}

bool is_open_here(std::int64_t store) {
  OpenStores& stores = open_stores();
  const std::lock_guard lock(stores.mutex);
  return stores.numbers.contains(store);
}

} // namespace

OpenStore::OpenStore() {
  OpenStores& stores = open_stores();
  const std::lock_guard lock(stores.mutex);
  number_ = ++stores.last;
  stores.numbers.insert(number_);
}

OpenStore::~OpenStore() {
  OpenStores& stores = open_stores();
  const std::lock_guard lock(stores.mutex);
  stores.numbers.erase(number_);
}

ProcessIdentity this_process() {
  return {.host = host_name(),
          .boot = boot_id(),
          .pids = link_target("/proc/self/ns/pid"),
          .pid = ::getpid(),
          .started = static_cast<std::int64_t>(process_stat("self").value_or(ProcessStat{}).started)};
}

std::string boot_text(const ProcessIdentity& process) {
  return process.boot + ' ' + process.pids + ' ' + std::to_string(process.store);
}

void set_boot_text(ProcessIdentity& process, const std::string& text) {
  process.boot.clear();
  process.pids.clear();
  process.store = 0;
  std::istringstream parts(text);
  std::getline(parts, process.boot, ' ');
  std::getline(parts, process.pids, ' ');
  parts >> process.store;
}

bool is_gone(const ProcessIdentity& process) {
  const ProcessIdentity self = this_process();
  if (process.host != self.host || process.boot.empty() || self.boot.empty())
    return false;
  if (process.boot != self.boot)
    return true; // no process outlives a reboot
  if (!process.pids.empty() && process.pids != self.pids)
    return false; // in another container, its number means another process
  if (is_number_free(process.pid))
    return true;
  if (process.pid == self.pid && process.started == self.started)
    return process.store > 0 && !is_open_here(process.store);
  // In a container without its own /proc, the existing one shows other processes.
  if (link_target("/proc/self") != std::to_string(self.pid))
    return false;
  const auto stat = process_stat(std::to_string(process.pid)); // another start: the number is in use again
  return stat && process.started != 0 &&
         (stat->has_ended() || static_cast<std::int64_t>(stat->started) != process.started);
}

} // namespace batchscope::store::detail
