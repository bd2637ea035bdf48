#include "core/base/open_database.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <sys/stat.h>
#include <unistd.h>

#include "core/base/error.h"

namespace batchscope {

namespace fs = std::filesystem;

namespace {

using namespace std::string_view_literals;

/// The first bytes of the files of an open database: the database, its WAL (big-endian; the last bit is the byte order
/// of its checksums), its index (in native byte order).
bool begins_like_database(std::string_view start) {
  constexpr std::uint32_t index_version = 3007000;
  std::array<char, sizeof index_version> index{};
  std::memcpy(index.data(), &index_version, sizeof index_version);
  const std::array<std::string_view, 4> starts{"SQLite format 3\0"sv, "\x37\x7f\x06\x82"sv, "\x37\x7f\x06\x83"sv,
                                               std::string_view(index.data(), index.size())};
  return std::any_of(starts.begin(), starts.end(), [&](std::string_view each) { return start.starts_with(each); });
}

std::optional<int> number_of(const fs::path& descriptor) {
  const std::string name = descriptor.filename().string();
  int number = -1;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
  return problem == std::errc{} && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

/// If the descriptor is closed or reused meanwhile, another file may be read, which does no harm.
bool is_database(int descriptor) {
  std::array<char, 16> start{};
  const ssize_t count = ::pread(descriptor, start.data(), start.size(), 0);
  return count > 0 && begins_like_database({start.data(), static_cast<std::size_t>(count)});
}

} // namespace

OpenDatabases::OpenDatabases() {
  std::error_code none;
  for (fs::directory_iterator each("/proc/self/fd", none), end; !none && each != end; each.increment(none)) {
    const auto descriptor = number_of(each->path());
    struct stat open {}; // by its name in /proc, without touching descriptors that other threads open and close
    if (descriptor && ::stat(each->path().c_str(), &open) == 0 && S_ISREG(open.st_mode) && is_database(*descriptor))
      files_.emplace(open.st_dev, open.st_ino);
  }
}

bool OpenDatabases::include(const fs::path& file) const {
  struct stat wanted {};
  return ::stat(file.c_str(), &wanted) == 0 && files_.contains({wanted.st_dev, wanted.st_ino});
}

bool is_open_database(const fs::path& file) {
  return OpenDatabases().include(file);
}

void refuse_open_database(const fs::path& file) {
  if (is_open_database(file))
    throw input_error(file.string() + ": is the run database that is open; use another file");
}

} // namespace batchscope
