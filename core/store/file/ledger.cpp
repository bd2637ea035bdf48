#include "core/store/file/detail/ledger.h"

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/store/file/detail/database_files.h"

namespace batchscope::store::detail {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view purged_mark = "purged";

/// The ledger's file, locked against other writers while this object lives. The lock belongs to the open file
/// description; see system_calls.h.
class LockedLedger {
public:
  explicit LockedLedger(const fs::path& file) {
    constexpr mode_t as_the_umask_says = 0666;
    constexpr int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK; // a pipe would wait
    descriptor_ = ::open(file.c_str(), flags, as_the_umask_says);
    struct stat status {};
    if (descriptor_ >= 0 && (::fstat(descriptor_, &status) != 0 || !S_ISREG(status.st_mode))) {
      ::close(descriptor_);
      descriptor_ = -1;
    }
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    while (descriptor_ >= 0 && ::fcntl(descriptor_, F_OFD_SETLKW, &whole) != 0)
      if (errno != EINTR)
        break; // a file system without locks; lines are appended whole anyway
  }
  ~LockedLedger() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
  }
  LockedLedger(const LockedLedger&) = delete;
  LockedLedger& operator=(const LockedLedger&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  int descriptor() const { return descriptor_; }

  /// The first line, without its newline.
  std::string first_line() const {
    std::array<char, 256> text{};
    const auto size = ::pread(descriptor_, text.data(), text.size(), 0);
    const std::string_view read(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    return std::string(read.substr(0, read.find('\n')));
  }

private:
  int descriptor_ = -1;
};

/// Truncates text that does not fit on the disk, so that no line is incomplete.
void append_whole(int descriptor, const std::string& text) {
  struct stat before {};
  ::fstat(descriptor, &before);
  const auto written = ::write(descriptor, text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size()) && ::ftruncate(descriptor, before.st_size) != 0)
    return; // read() skips an incomplete line
}

/// And no link to one.
bool is_regular(const fs::path& file) {
  std::error_code ignored;
  return fs::is_regular_file(fs::symlink_status(file, ignored));
}

std::string line_of(const Ledger::Run& run) {
  return fmt::format("{} {} {}\n", run.uid, run.id, run.points);
}

} // namespace

Ledger::Ledger(const fs::path& database, std::string identity) : file_(database), identity_(std::move(identity)) {
  file_ += "-ledger";
}

std::string Ledger::header() const {
  return "batchscope-ledger 1 " + identity_;
}

void Ledger::stored(const std::vector<Run>& runs) const {
  std::string lines;
  for (const Run& run : runs)
    lines += line_of(run);
  append(lines);
}

void Ledger::purged(const std::vector<std::string>& uids) const {
  std::string lines;
  for (const std::string& uid : uids)
    lines += fmt::format("{} {}\n", uid, purged_mark);
  append(lines);
}

void Ledger::replace(const std::vector<Run>& runs) const {
  std::string lines;
  for (const Run& run : runs)
    lines += line_of(run);
  const LockedLedger locked(file_);
  if (locked.is_open())
    write_anew(locked.descriptor(), lines);
}

// Rewrites in place, not as a new file: others may wait for the lock of this one.
void Ledger::write_anew(int descriptor, const std::string& lines) const {
  if (::ftruncate(descriptor, 0) == 0)
    append_whole(descriptor, header() + '\n' + lines);
}

void Ledger::append(const std::string& lines) const {
  if (lines.empty())
    return;
  const LockedLedger locked(file_);
  if (!locked.is_open())
    return;
  if (locked.first_line() == header())
    append_whole(locked.descriptor(), lines);
  else
    write_anew(locked.descriptor(), lines);
}

bool Ledger::exists() const {
  if (!is_regular(file_))
    return false;
  std::ifstream stream(file_);
  std::string line;
  return std::getline(stream, line) && line == header();
}

std::map<std::string, Ledger::Run> Ledger::read() const {
  std::map<std::string, Run> runs;
  if (!is_regular(file_))
    return runs;
  std::ifstream stream(file_);
  std::string line;
  if (!std::getline(stream, line) || line != header())
    return runs;
  while (std::getline(stream, line)) {
    std::istringstream fields(line);
    Run run;
    std::string id;
    if (!(fields >> run.uid >> id))
      continue;
    if (id == purged_mark) {
      runs.erase(run.uid);
      continue;
    }
    if (!(std::istringstream(id) >> run.id) || !(fields >> run.points))
      continue;
    Run& known = runs[run.uid];
    run.points = std::max(run.points, known.points);
    known = run;
  }
  return runs;
}

void Ledger::compact() const {
  constexpr std::uintmax_t large_bytes = std::uintmax_t{256} * 1024;
  constexpr std::size_t line_bytes = 60; // approximate
  std::error_code none;
  if (const auto size = fs::file_size(file_, none); none || size < large_bytes)
    return;
  const LockedLedger locked(file_);
  const auto runs = read();
  if (!locked.is_open() || runs.size() * line_bytes * 2 > fs::file_size(file_, none))
    return;
  std::string lines;
  for (const auto& [uid, run] : runs)
    lines += line_of(run);
  write_anew(locked.descriptor(), lines);
}

} // namespace batchscope::store::detail
