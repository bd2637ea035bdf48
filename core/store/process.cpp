#include "core/store/detail/process.h"

#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include <unistd.h>

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

// When the process with that number was started; nothing when there is none, or only what is left of a dead one.
std::optional<std::int64_t> start_of(std::int64_t pid) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  // The second field is the program's name in parentheses and may hold anything, parentheses included.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos)
    return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  constexpr int state_field = 3;
  constexpr int start_field = 22;
  std::string field;
  for (int number = state_field; number <= start_field; ++number) {
    fields >> field;
    if (number == state_field && (field == "Z" || field == "X"))
      return std::nullopt;
  }
  return fields ? std::optional(std::stoll(field)) : std::nullopt;
}

} // namespace

ProcessIdentity this_process() {
  const std::int64_t pid = ::getpid();
  return {.host = host_name(), .boot = boot_id(), .pid = pid, .started = start_of(pid).value_or(0)};
}

bool is_gone(const ProcessIdentity& process) {
  if (process.host != host_name())
    return false;
  if (process.boot != boot_id())
    return true;
  return start_of(process.pid) != process.started;
}

} // namespace batchscope::store::detail
