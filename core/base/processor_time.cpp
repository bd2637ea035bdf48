#include "core/base/processor_time.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/base/descriptor.h"
#include "core/base/seconds_since.h"

namespace batchscope {

namespace {

/// `RAN WAITED SLICES`, in nanoseconds, of a thread.
std::optional<ThreadTime> thread_time(int tasks, const char* id) {
  std::array<char, 64> path{};
  fmt::format_to_n(path.data(), path.size() - 1, "{}/schedstat", id);
  const Descriptor file(::openat(tasks, path.data(), O_RDONLY | O_CLOEXEC));
  std::array<char, 128> text{};
  const ssize_t size = file.get() < 0 ? -1 : ::read(file.get(), text.data(), text.size());
  if (size <= 0)
    return std::nullopt;
  const char* const end = text.data() + size;
  std::uint64_t ran = 0;
  std::uint64_t waited = 0;
  const auto first = std::from_chars(text.data(), end, ran);
  if (first.ec != std::errc() || first.ptr == end)
    return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, waited).ec != std::errc())
    return std::nullopt;
  ThreadTime time{.ran_seconds = 1e-9 * static_cast<double>(ran), .waited_seconds = 1e-9 * static_cast<double>(waited)};
  std::from_chars(id, id + std::string_view(id).size(), time.id);
  return time;
}

struct Spent {
  double ran = 0;
  double waited = 0;
  double ready() const { return ran + waited; }
};

} // namespace

std::vector<ThreadTime> thread_times(const std::string& process) {
  std::vector<ThreadTime> times;
  const std::string tasks = fmt::format("/proc/{}/task", process);
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(tasks.c_str()), &::closedir);
  if (!folder)
    return times;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (entry->d_name[0] == '.')
      continue;
    if (const auto time = thread_time(::dirfd(folder.get()), entry->d_name); time && time->ran_seconds > 0)
      times.push_back(*time);
  }
  std::sort(times.begin(), times.end(), [](const ThreadTime& a, const ThreadTime& b) { return a.id < b.id; });
  return times;
}

ProcessorShare processor_share(const std::vector<ThreadTime>& begin, const std::vector<ThreadTime>& end,
                               double seconds) {
  if (end.empty())
    return {};
  std::vector<Spent> all;
  auto before = begin.begin();
  for (const ThreadTime& now : end) {
    while (before != begin.end() && before->id < now.id)
      ++before;
    const bool is_known = before != begin.end() && before->id == now.id;
    const ThreadTime then = is_known ? *before : ThreadTime{};
    all.push_back({now.ran_seconds - then.ran_seconds, now.waited_seconds - then.waited_seconds});
  }
  const Spent busiest =
      *std::max_element(all.begin(), all.end(), [](const Spent& a, const Spent& b) { return a.ready() < b.ready(); });
  constexpr double computes = 0.1;
  ProcessorShare share{.seconds = seconds};
  for (const Spent& spent : all)
    if (spent.ready() >= computes * busiest.ready()) {
      share.ran_seconds += spent.ran;
      share.waited_seconds += spent.waited;
    }
  share.undisturbed_seconds = std::min(seconds, std::max(busiest.ran, seconds - share.waited_seconds));
  return share;
}

void ProcessorWatch::begin() {
  times_ = thread_times(process_);
  began_ = std::chrono::steady_clock::now();
}

double ProcessorWatch::seconds() const {
  return seconds_since(began_);
}

ProcessorShare ProcessorWatch::share() const {
  const double so_far = seconds();
  return processor_share(times_, thread_times(process_), so_far);
}

} // namespace batchscope
