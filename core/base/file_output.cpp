#include "core/base/file_output.h"

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/folder.h"
#include "core/base/open_database.h"

namespace batchscope {

namespace fs = std::filesystem;

namespace {

std::string message(int error) {
  return std::generic_category().message(error);
}

fs::path temporary_name(const fs::path& file) {
  return folder_of(file) / fmt::format(".{}.{}.unfinished", file.filename().string(), ::getpid());
}

void check_file_name(const fs::path& file) {
  if (file.empty() || !file.has_filename())
    throw input_error(fmt::format("output `{}`: not a file name", file.string()));
  refuse_open_database(file);
  std::error_code ignored;
  if (fs::is_directory(file, ignored))
    throw input_error(fmt::format("{}: is a folder; give a file name", file.string()));
  if (!fs::is_directory(folder_of(file), ignored))
    throw input_error(fmt::format("{}: its folder does not exist; create it first", file.string()));
}

bool is_there(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(file, ignored));
}

void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return;
  ::fsync(descriptor); // some file systems do not support this for folders; the file itself is on the disk
  ::close(descriptor);
}

} // namespace

void check_new_file(const fs::path& file) {
  check_file_name(file);
  if (is_there(file))
    throw input_error(fmt::format("{}: already exists; give the name of a new file", file.string()));
}

FileOutput::FileOutput(const fs::path& file, bool replace, std::function<bool()> cancelled)
    : file_(file), temporary_(temporary_name(file)), replace_(replace), cancelled_(std::move(cancelled)),
      stream_(this) {
  check_target();
  ::unlink(temporary_.c_str()); // of a program with this number that was killed; a link that somebody has put there
  descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    throw input_error(fmt::format("{}: cannot be written: {}", file_.string(), message(errno)));
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  stream_.exceptions(std::ios::badbit); // passes exceptions of overflow() on to the writer
}

FileOutput::~FileOutput() {
  if (descriptor_ < 0)
    return;
  ::close(descriptor_);
  ::unlink(temporary_.c_str());
}

void FileOutput::check_target() const {
  check_file_name(file_);
  if (!replace_ && is_there(file_))
    throw input_error(fmt::format("{}: already exists; --force overwrites it", file_.string()));
}

void FileOutput::check_cancelled() const {
  if (cancelled_ && cancelled_())
    throw Error(Error::Kind::failed, fmt::format("{}: not written: cancelled", file_.string()));
}

FileOutput::int_type FileOutput::overflow(int_type c) {
  if (sync() != 0)
    return traits_type::eof();
  if (!traits_type::eq_int_type(c, traits_type::eof()))
    sputc(traits_type::to_char_type(c));
  return traits_type::not_eof(c);
}

int FileOutput::sync() {
  check_cancelled();
  const char* begin = pbase();
  while (begin < pptr()) {
    const ssize_t written = ::write(descriptor_, begin, static_cast<std::size_t>(pptr() - begin));
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      throw Error(Error::Kind::failed, fmt::format("{}: cannot be written: {}", file_.string(), message(errno)));
    begin += written;
  }
  setp(buffer_.data(), buffer_.data() + buffer_.size());
  return 0;
}

void FileOutput::publish() {
  sync();
  if (::fsync(descriptor_) != 0)
    throw Error(Error::Kind::failed, fmt::format("{}: cannot be written: {}", file_.string(), message(errno)));
  check_cancelled();
  // Checked again, by the kernel if possible: the file may have appeared since.
  check_target();
  int result = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, file_.c_str(), replace_ ? 0 : RENAME_NOREPLACE);
  if (result != 0 && errno == EINVAL)
    result = ::rename(temporary_.c_str(), file_.c_str());
  if (result != 0)
    throw input_error(fmt::format("{}: cannot be written: {}", file_.string(), message(errno)));
  ::close(descriptor_);
  descriptor_ = -1;
  sync_folder(folder_of(file_));
}

FolderOutput::FolderOutput(const fs::path& folder)
    : folder_(folder.has_filename() ? folder : folder.parent_path()), temporary_(temporary_name(folder_)) {
  check_target();
  std::error_code problem;
  fs::remove_all(temporary_, problem); // of a program with this number that was killed; a link, not what it leads to
  if (!problem && !fs::create_directory(temporary_, problem) && !problem)
    problem = std::make_error_code(std::errc::file_exists);
  if (problem)
    throw input_error(fmt::format("{}: cannot be written: {}", folder_.string(), problem.message()));
}

FolderOutput::~FolderOutput() {
  std::error_code ignored;
  if (!published_)
    fs::remove_all(temporary_, ignored);
}

void FolderOutput::check_target() const {
  std::error_code ignored;
  if (folder_.empty())
    throw input_error("output \"\": not a folder name");
  if (!fs::is_directory(folder_of(folder_), ignored))
    throw input_error(fmt::format("{}: its folder does not exist; create it first", folder_.string()));
  if (fs::exists(fs::symlink_status(folder_, ignored)))
    throw input_error(fmt::format("{}: already exists; give the name of a new folder", folder_.string()));
}

void FolderOutput::publish() {
  check_target();
  std::error_code problem;
  fs::rename(temporary_, folder_, problem);
  if (problem)
    throw input_error(fmt::format("{}: cannot be written: {}", folder_.string(), problem.message()));
  published_ = true;
  sync_folder(folder_of(folder_));
}

} // namespace batchscope
