#include "app/cli/sweep_workers.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/device_name.h"
#include "core/base/error.h"

namespace batchscope::cli {

namespace {

/// The texts as C has them, which end with a null pointer.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Environment of this process, but for the GPU.
std::vector<std::string> environment_for(const std::string& card) {
  const std::string name = std::string(visible_devices) + '=';
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (card.empty() || !std::string_view(*entry).starts_with(name))
      all.emplace_back(*entry);
  if (!card.empty())
    all.push_back(name + card);
  return all;
}

/// `card`: empty for any.
pid_t start_worker(const std::filesystem::path& database, std::int64_t sweep, const std::string& card) {
  std::vector<std::string> arguments{"batchscope-cli", "sweep",           "--join", std::to_string(sweep),
                                     "--db",           database.string(), "--quiet"};
  if (!card.empty())
    arguments.insert(arguments.end(), {"--device", "cuda:0"});
  std::vector<std::string> variables = environment_for(card);
  std::vector<char*> pointers = pointers_to(arguments), environment = pointers_to(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const int error = ::posix_spawn(&process, "/proc/self/exe", &actions, nullptr, pointers.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw Error(Error::Kind::failed, std::string("another worker cannot be started: ") + std::strerror(error));
  return process;
}

} // namespace

SweepWorkers::SweepWorkers(const std::filesystem::path& database, std::int64_t sweep, std::int64_t count,
                           const std::vector<std::string>& cards) {
  const auto file = std::filesystem::absolute(database);
  try {
    for (std::int64_t i = 1; i <= count; ++i)
      processes_.push_back(start_worker(file, sweep, cards.empty() ? "" : cards[static_cast<std::size_t>(i)]));
  } catch (const Error&) {
    stop(); // those that were started make the sweep without this program, which is not what its error says
    throw;
  }
}

SweepWorkers::~SweepWorkers() {
  for (const pid_t process : processes_)
    while (::waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void SweepWorkers::wait(const run::JobControl& control) {
  constexpr std::chrono::milliseconds pause{100};
  for (bool asked = false; !processes_.empty(); std::this_thread::sleep_for(pause)) {
    if (control.stopping() && !std::exchange(asked, true))
      stop();
    std::erase_if(processes_, [](pid_t process) {
      const pid_t ended = ::waitpid(process, nullptr, WNOHANG);
      return ended == process || (ended < 0 && errno != EINTR);
    });
  }
}

void SweepWorkers::stop() {
  for (const pid_t process : processes_)
    ::kill(process, SIGINT);
}

void share_cores(std::int64_t workers) {
  const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  ::setenv("OMP_NUM_THREADS", std::to_string(std::max<std::int64_t>(cores / workers, 1)).c_str(), 0);
}

} // namespace batchscope::cli
