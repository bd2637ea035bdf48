#include "core/store/file/detail/system_calls.h"

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

namespace batchscope::store::detail {

namespace {

/// A file that SQLite locks. SQLite tracks locks per file, not per descriptor: it may set a lock through one
/// connection's descriptor and release it through another's. Therefore all locks of a file go through one open file
/// description.
struct LockedFile {
  dev_t device;
  ino_t inode;
  int descriptor;         ///< a duplicate of the first of `users`, open as long as there are any
  std::vector<int> users; ///< SQLite's own descriptors that were used for locking the file
};

/// One per process, like SQLite's table of system calls. Thread-safe.
class LockedFiles {
public:
  static LockedFiles& of_this_process() {
    static LockedFiles files;
    return files;
  }

  /// The descriptor that holds the locks of the file that `user` has open; -1 with errno on an error.
  int descriptor_for(int user) {
    const std::lock_guard lock(mutex_);
    for (const LockedFile& file : files_)
      if (std::find(file.users.begin(), file.users.end(), user) != file.users.end())
        return file.descriptor;
    struct stat status {};
    if (::fstat(user, &status) != 0)
      return -1;
    for (LockedFile& file : files_)
      if (file.device == status.st_dev && file.inode == status.st_ino) {
        file.users.push_back(user);
        return file.descriptor;
      }
    constexpr int lowest = 3; // like SQLite, avoids the standard streams
    files_.push_back({status.st_dev, status.st_ino, -1, {user}});
    files_.back().descriptor = ::fcntl(user, F_DUPFD_CLOEXEC, lowest);
    if (files_.back().descriptor >= 0)
      return files_.back().descriptor;
    files_.pop_back();
    return -1;
  }

  /// SQLite is about to close `user`; the locks of a file are released with its last user.
  void forget(int user) {
    const std::lock_guard lock(mutex_);
    for (auto file = files_.begin(); file != files_.end(); ++file) {
      if (std::erase(file->users, user) == 0)
        continue;
      if (file->users.empty()) {
        ::close(file->descriptor);
        files_.erase(file);
      }
      return;
    }
  }

private:
  std::mutex mutex_;
  std::vector<LockedFile> files_; ///< guarded by mutex_
};

/// Files that SQLite opened at the watched paths. One per process, as above. Thread-safe.
class WatchedNames {
public:
  static WatchedNames& of_this_process() {
    static WatchedNames names;
    return names;
  }

  void watch(const std::string& name) {
    const std::lock_guard lock(mutex_);
    opened_[name] = {};
  }
  void forget(const std::string& name) {
    const std::lock_guard lock(mutex_);
    opened_.erase(name);
  }
  FileIdentity opened(const std::string& name) {
    const std::lock_guard lock(mutex_);
    const auto entry = opened_.find(name);
    return entry == opened_.end() ? FileIdentity{} : entry->second;
  }
  void note(const char* name, int descriptor) {
    const std::lock_guard lock(mutex_);
    const auto entry = opened_.find(name);
    struct stat status {};
    if (entry != opened_.end() && ::fstat(descriptor, &status) == 0)
      entry->second = {status.st_dev, status.st_ino};
  }

private:
  std::mutex mutex_;
  std::map<std::string, FileIdentity, std::less<>> opened_; ///< guarded by mutex_
};

/// The equivalent command for open file description locks; commands that are not about locks are returned unchanged.
int description_command(int command) {
  switch (command) {
  case F_GETLK:
    return F_OFD_GETLK;
  case F_SETLK:
    return F_OFD_SETLK;
  case F_SETLKW:
    return F_OFD_SETLKW;
  default:
    return command;
  }
}

// Called through SQLite's table of system calls: it must not throw, and changes arguments only as fcntl does.
int fcntl_for_sqlite(int descriptor, int command, ...) noexcept {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*); // SQLite passes a pointer, an int or nothing; all fit
  va_end(arguments);
  if (description_command(command) == command)
    return ::fcntl(descriptor, command, argument);
  auto* lock = static_cast<struct flock*>(argument);
  try {
    const int holder = LockedFiles::of_this_process().descriptor_for(descriptor);
    if (holder < 0)
      return -1;
    lock->l_pid = 0; // required by the kernel
    return ::fcntl(holder, description_command(command), lock);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return -1;
  }
}

int close_for_sqlite(int descriptor) noexcept {
  LockedFiles::of_this_process().forget(descriptor);
  return ::close(descriptor);
}

int open_for_sqlite(const char* name, int flags, int mode) noexcept {
  const int descriptor = ::open(name, flags, mode);
  if (descriptor >= 0)
    WatchedNames::of_this_process().note(name, descriptor);
  return descriptor;
}

void replace_call(sqlite3_vfs& vfs, const char* name, sqlite3_syscall_ptr call) {
  if (vfs.iVersion >= 3 && vfs.xSetSystemCall)
    vfs.xSetSystemCall(&vfs, name, call);
}

} // namespace

void replace_system_calls() {
  static std::once_flag once;
  std::call_once(once, [] {
    // All of SQLite's VFSs for Unix share one table of system calls.
    if (sqlite3_vfs* vfs = sqlite3_vfs_find("unix")) {
      replace_call(*vfs, "fcntl", reinterpret_cast<sqlite3_syscall_ptr>(&fcntl_for_sqlite));
      replace_call(*vfs, "close", reinterpret_cast<sqlite3_syscall_ptr>(&close_for_sqlite));
      replace_call(*vfs, "open", reinterpret_cast<sqlite3_syscall_ptr>(&open_for_sqlite));
    }
  });
}

OpenedFiles::OpenedFiles(std::filesystem::path database) : database_(std::move(database)) {
  reset();
}

void OpenedFiles::reset() {
  for (const auto& name : {database_, log_of(database_), index_of(database_)})
    WatchedNames::of_this_process().watch(name.string());
}

OpenedFiles::~OpenedFiles() {
  for (const auto& name : {database_, log_of(database_), index_of(database_)})
    WatchedNames::of_this_process().forget(name.string());
}

DatabaseFiles OpenedFiles::get() const {
  const auto opened = [](const std::filesystem::path& name) {
    return WatchedNames::of_this_process().opened(name.string());
  };
  return {opened(database_), opened(log_of(database_)), opened(index_of(database_))};
}

} // namespace batchscope::store::detail
