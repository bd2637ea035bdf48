#include "core/pretended_gpu/helper.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/part.h"
#include "core/pretended_gpu/detail/line_socket.h"

namespace batchscope::pretended_gpu {

namespace {

constexpr const char* program = "batchscope-card"; // app/card/main.cpp

Error broken(const std::string& what) {
  return {Error::Kind::unavailable, std::string("no GPU can be pretended here: ") + program + ' ' + what};
}

/// Environment of this process, with some variables set.
std::vector<std::string> environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    if (std::none_of(variables.begin(), variables.end(), [&](const auto& variable) { return variable.first == name; }))
      all.push_back(text);
  }
  for (const auto& [name, value] : variables)
    all.push_back(name + '=' + value);
  return all;
}

Error::Kind kind_of(const std::string& name) {
  return name == "input" ? Error::Kind::input : name == "unavailable" ? Error::Kind::unavailable : Error::Kind::failed;
}

} // namespace

/// The helper and the socket to it, on which each question and each answer is a line.
class Helper::Process {
public:
  Process() {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
      throw broken("cannot be reached: no more files can be opened");
    socket_ = ends[0];
    try {
      start(ends[1]);
    } catch (...) {
      ::close(ends[0]);
      ::close(ends[1]);
      throw;
    }
    ::close(ends[1]);
  }
  ~Process() {
    ::kill(pid_, SIGKILL); // with it goes the process that answers
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    ::close(socket_);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::string answer_to(const std::string& question) {
    LineSocket lines(socket_); // nothing is left over between two questions
    std::optional<std::string> answer;
    if (lines.send(question))
      answer = lines.receive();
    if (!answer)
      throw broken("ended early");
    return *std::move(answer);
  }

private:
  void start(int other_end) {
    const std::string path = (parts_folder() / program).string();
    if (::access(path.c_str(), X_OK) != 0)
      throw Error(Error::Kind::unavailable, "this torch was built without CUDA, so no GPU can be pretended");
    // Each question replaces this GPU by its own.
    auto variables = environment(Gpu{.name = "none"});
    variables.emplace_back("CUDA_VISIBLE_DEVICES", "0");
    std::vector<std::string> texts = environment_with(variables);
    std::vector<char*> environment;
    for (std::string& text : texts)
      environment.push_back(text.data());
    environment.push_back(nullptr);
    std::string name = path;
    std::array<char*, 2> arguments{name.data(), nullptr};
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, other_end, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    const int error = ::posix_spawn(&pid_, path.c_str(), &actions, nullptr, arguments.data(), environment.data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
      throw broken(std::string("cannot be started: ") + std::strerror(error));
  }

  int socket_ = -1;
  pid_t pid_ = -1;
};

Helper::Helper() = default;
Helper::~Helper() = default;

Json Helper::ask(const Gpu& gpu, const Json& question) {
  const std::lock_guard lock(mutex_);
  if (!process_)
    process_ = std::make_unique<Process>();
  Json answer;
  try {
    answer = parse_json_or_discard(process_->answer_to(json_text({{"gpu", description(gpu)}, {"question", question}})));
  } catch (...) {
    process_.reset(); // or the next question would get this one's answer
    throw;
  }
  if (!answer.is_object())
    throw broken("answers what cannot be read");
  if (const std::string error = text_member(answer, "error"); !error.empty())
    throw Error(kind_of(text_member(answer, "kind")), error);
  return answer;
}

} // namespace batchscope::pretended_gpu
