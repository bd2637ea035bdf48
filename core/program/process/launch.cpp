#include "core/program/process/detail/launch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "core/base/descriptor.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::program::detail {

namespace {

/// Variables that this process itself has if BatchScope started it. They are removed: the program below is another run.
constexpr std::array own_variables = {"BATCHSCOPE_SOCKET", "BATCHSCOPE_RUN",     "BATCHSCOPE_SPILL",
                                      "BATCHSCOPE_ATTACH", "BATCHSCOPE_SEED",    "BATCHSCOPE_TRIAL",
                                      "BATCHSCOPE_PASSES", "BATCHSCOPE_CHANGES", "BATCHSCOPE_BATCHES"};

/// Every tensor is given back when it is freed, so that equal steps need equal memory; one heap for all threads, so
/// that it is not chance in which of several a block finds room.
constexpr const char* tunables = "glibc.malloc.mmap_threshold=131072:glibc.malloc.hugetlb=1:glibc.malloc.arena_max=1";

using Variables = std::map<std::string, std::string>;

Variables variables_for(const ChildStart& start, const std::string& token) {
  Variables variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  for (const char* name : own_variables)
    variables.erase(name);
  variables.emplace("PYTHONUNBUFFERED", "1");
  for (const auto& [name, value] : start.environment)
    variables[name] = value;
  variables[ProcessGroup::variable] = token;
  if (start.returns_freed_memory) {
    std::string& value = variables["GLIBC_TUNABLES"];
    value = value.empty() ? tunables : fmt::format("{}:{}", tunables, value); // the last one of a name counts
  }
  return variables;
}

bool is_program(const std::filesystem::path& file) {
  struct stat info {};
  return stat(file.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(file.c_str(), X_OK) == 0;
}

void check_folder(const ChildStart& start) {
  std::error_code ignored;
  if (!start.folder.empty() && !std::filesystem::is_directory(start.folder, ignored))
    throw input_error(fmt::format("--cwd: no folder {}", in_quotes(start.folder.string())), "program");
}

/// The file to execute. A command with a slash is taken from the folder in which it is to run, as a shell there would.
std::filesystem::path find_program(const ChildStart& start, const Variables& variables) {
  if (start.command.empty() || start.command.front().empty())
    throw input_error("the command is empty; give a program and its arguments after --", "program");
  const std::string& name = start.command.front();
  const std::filesystem::path base = start.folder.empty() ? std::filesystem::path() : start.folder;
  if (name.find('/') != std::string::npos) {
    std::filesystem::path file = base / name;
    if (is_program(file))
      return file;
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored))
      throw input_error(fmt::format("no program {}", in_quotes(file.string())), "program");
    throw input_error(fmt::format("{} cannot be executed; is it a script to be given to its interpreter (python3 {})?",
                                  in_quotes(file.string()), shortened(name)),
                      "program");
  }
  const auto path = variables.find("PATH");
  std::istringstream folders(path == variables.end() ? "/usr/local/bin:/usr/bin:/bin" : path->second);
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const std::filesystem::path file = (folder.empty() ? base : base / folder) / name;
    if (is_program(file))
      return std::filesystem::absolute(file);
  }
  throw input_error(fmt::format("no program {} in PATH", in_quotes(name)), "program");
}

/// A file under another number than those of standard streams. Where this process has these closed, a new file gets
/// such a number, which in the new process is another file's.
Descriptor above_standard_streams(int number) {
  Descriptor file(number);
  if (number < 0 || number > STDERR_FILENO)
    return file;
  return Descriptor(fcntl(number, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

/// Arguments of the new process, all made before fork.
struct Prepared {
  const char* file;
  char* const* arguments;
  char* const* environment;
  const char* folder; ///< null: the present one
  int input;
  int output;
  int report; ///< where errno goes if the program cannot be executed
  const std::uint64_t* data_limit;
};

/// Runs in the new process, where only async-signal-safe functions may be called.
[[noreturn]] void execute(const Prepared& prepared) {
  setsid();
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action {};
    action.sa_handler = SIG_DFL;
    sigaction(number, &action, nullptr); // the system refuses those that cannot be set
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  bool ready = dup2(prepared.input, STDIN_FILENO) >= 0 && dup2(prepared.output, STDOUT_FILENO) >= 0 &&
               dup2(prepared.output, STDERR_FILENO) >= 0;
  ready = ready && (!prepared.folder || chdir(prepared.folder) == 0);
  if (ready) {
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC); // what libraries of this process have opened
    if (prepared.data_limit) {
      rlimit limit{}; // the soft one only: batchscope's client raises it once it knows the model
      getrlimit(RLIMIT_DATA, &limit);
      limit.rlim_cur = limit.rlim_max < *prepared.data_limit ? limit.rlim_max : *prepared.data_limit;
      setrlimit(RLIMIT_DATA, &limit);
    }
    execve(prepared.file, prepared.arguments, prepared.environment);
  }
  const int error = errno;
  [[maybe_unused]] const ssize_t written = write(prepared.report, &error, sizeof error);
  _exit(127);
}

/// errno of the new process if it could not execute the program, or 0.
int reported_error(int descriptor) {
  int error = 0;
  ssize_t size = 0;
  do
    size = read(descriptor, &error, sizeof error);
  while (size < 0 && errno == EINTR);
  return size == sizeof error ? error : 0;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// What the program reads.
Descriptor input_of(const ChildStart& start) {
  const int mode = start.reads_input ? fcntl(STDIN_FILENO, F_GETFL) : -1; // not for reading if it was closed
  if (mode >= 0 && (mode & O_ACCMODE) != O_WRONLY && !isatty(STDIN_FILENO))
    return Descriptor(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  return above_standard_streams(open("/dev/null", O_RDONLY | O_CLOEXEC));
}

pid_t fork_and_execute(const std::filesystem::path& file, const ChildStart& start, const Variables& variables,
                       int output) {
  std::vector<std::string> arguments = start.command;
  std::vector<std::string> assignments;
  for (const auto& [name, value] : variables)
    assignments.push_back(fmt::format("{}={}", name, value));
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> assignment_pointers = pointers(assignments);
  const std::string folder = start.folder.string();
  const Descriptor input = input_of(start);
  std::array<int, 2> pipe_ends{-1, -1};
  if (input.get() < 0 || pipe2(pipe_ends.data(), O_CLOEXEC) != 0)
    throw Error(Error::Kind::failed, fmt::format("cannot start a program: {}", std::strerror(errno)));
  const Descriptor report(pipe_ends[0]);
  Descriptor report_from = above_standard_streams(pipe_ends[1]);

  const Prepared prepared{file.c_str(),
                          argument_pointers.data(),
                          assignment_pointers.data(),
                          folder.empty() ? nullptr : folder.c_str(),
                          input.get(),
                          output,
                          report_from.get(),
                          start.data_limit ? &*start.data_limit : nullptr};
  // With all signals blocked no handler of this process runs in the new one.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  if (pid == 0)
    execute(prepared);
  const int fork_error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (pid < 0)
    throw Error(Error::Kind::failed, fmt::format("cannot start a program: {}", std::strerror(fork_error)));

  report_from = Descriptor(); // the new process has the only one
  if (const int error = reported_error(report.get())) {
    waitpid(pid, nullptr, 0);
    const char* hint = error == ENOEXEC ? "; does it lack a first line such as #!/usr/bin/env python3?" : "";
    throw input_error(fmt::format("{} cannot be started: {}{}", in_quotes(file.string()), std::strerror(error), hint),
                      "program");
  }
  return pid;
}

std::uint64_t count_in(const std::filesystem::path& file, const std::string& name) {
  std::ifstream stream(file);
  std::string key;
  std::uint64_t value = 0;
  while (stream >> key >> value)
    if (key == name)
      return value;
  return 0;
}

} // namespace

pid_t launch(const ChildStart& start, const std::string& token) {
  check_folder(start);
  const Variables variables = variables_for(start, token);
  const std::filesystem::path file = find_program(start, variables);
  const Descriptor output =
      above_standard_streams(open(start.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (output.get() < 0)
    throw input_error(fmt::format("cannot write the program's output to {}: {}", in_quotes(start.output.string()),
                                  std::strerror(errno)));
  return fork_and_execute(std::filesystem::absolute(file), start, variables, output.get());
}

std::uint64_t kernel_oom_kills() {
  std::uint64_t kills = count_in("/proc/vmstat", "oom_kill");
  std::ifstream groups("/proc/self/cgroup");
  std::string line;
  while (std::getline(groups, line))
    if (line.starts_with("0::/"))
      kills += count_in(std::filesystem::path("/sys/fs/cgroup") / line.substr(4) / "memory.events", "oom_kill");
  return kills;
}

} // namespace batchscope::program::detail

namespace batchscope::program {

void check_can_start(const ChildStart& start) {
  detail::check_folder(start);
  detail::find_program(start, detail::variables_for(start, {}));
}

} // namespace batchscope::program
