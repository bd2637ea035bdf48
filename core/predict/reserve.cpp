#include "core/predict/reserve.h"

#include <array>
#include <cstdio>
#include <sstream>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/part.h"

namespace batchscope::predict {

namespace {

constexpr const char* helper = "batchscope-reserve"; // app/reserve/main.cpp

Error failed(const std::string& what) {
  return {Error::Kind::failed, std::string(helper) + ": " + what};
}

class File {
public:
  explicit File(int file) : file_(file) {
    if (file_ < 0)
      throw failed("no more files can be opened");
  }
  ~File() { close(); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return file_; }
  void close() {
    if (file_ >= 0)
      ::close(file_);
    file_ = -1;
  }

private:
  int file_;
};

std::vector<std::uint64_t> encoded(const telemetry::Trace& trace, std::uint64_t capacity) {
  std::vector<std::uint64_t> numbers{capacity, 0};
  numbers.reserve(2 + 2 * trace.events.size());
  for (const telemetry::TraceEvent& event : trace.events) {
    if (event.block == telemetry::block_from_before)
      continue;
    numbers.push_back(event.block);
    numbers.push_back(event.allocates ? event.bytes : 0);
  }
  numbers[1] = numbers.size() / 2 - 1;
  return numbers;
}

void write_all(int file, const std::vector<std::uint64_t>& numbers) {
  const auto* data = reinterpret_cast<const char*>(numbers.data());
  std::size_t left = numbers.size() * sizeof numbers[0];
  while (left > 0) {
    const ssize_t written = ::write(file, data, left);
    if (written <= 0)
      throw failed("its input cannot be written");
    data += written;
    left -= static_cast<std::size_t>(written);
  }
  ::lseek(file, 0, SEEK_SET);
}

std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t count = 0; (count = ::read(file, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(count));
  return text;
}

/// The output of the helper for this input.
std::string run_helper(const std::vector<std::uint64_t>& input) {
  const auto program = parts_folder() / helper;
  if (::access(program.c_str(), X_OK) != 0)
    throw Error(Error::Kind::unavailable,
                "this torch was built without CUDA, so what its allocator reserves is unknown");
  const File in(::memfd_create("trace", MFD_CLOEXEC));
  write_all(in.get(), input);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw failed("no more files can be opened");
  const File out(ends[0]);
  File child_out(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.get(), STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, child_out.get(), STDOUT_FILENO);
  std::string name = program.string();
  std::array<char*, 2> arguments{name.data(), nullptr};
  pid_t child = 0;
  const int error = ::posix_spawn(&child, name.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw failed("cannot be started");
  child_out.close();
  std::string text = read_all(out.get());
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    throw failed("ended early");
  return text;
}

} // namespace

Reserve reserve(const telemetry::Trace& trace, std::uint64_t capacity) {
  std::istringstream answer(run_helper(encoded(trace, capacity)));
  Reserve reserve;
  std::string outcome;
  if (!(answer >> outcome >> reserve.reserved_bytes >> reserve.allocated_bytes))
    throw failed("its answer cannot be read");
  answer.get(); // the space before the message
  std::getline(answer, reserve.message);
  reserve.fits = outcome == "fits";
  return reserve;
}

} // namespace batchscope::predict
