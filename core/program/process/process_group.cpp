#include "core/program/process/process_group.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "core/base/process_file.h"

namespace batchscope::program {

struct ProcessGroup::Process : ProcessStat {
  pid_t pid = 0;
};

namespace {

std::string environment_of(pid_t pid) {
  return process_file(std::to_string(pid), "environ");
}

} // namespace

ProcessGroup::ProcessGroup(pid_t leader, std::string token) : leader_(leader), token_(std::move(token)) {
  if (const auto stat = process_stat(std::to_string(leader)))
    leader_started_ = stat->started;
}

ProcessGroup::ProcessGroup(pid_t leader, std::uint64_t started, std::string token)
    : leader_(leader), token_(std::move(token)), leader_started_(started) {}

std::optional<ProcessGroup> ProcessGroup::find(const std::string& token) {
  const ProcessGroup unknown(0, 0, token);
  for (const Process& process : processes())
    if (process.session == process.pid && !process.has_ended() && unknown.has_token(process.pid))
      return ProcessGroup(process.pid, process.started, token);
  return std::nullopt;
}

bool ProcessGroup::leader_lives() const {
  const auto stat = process_stat(std::to_string(leader_));
  return stat && stat->started == leader_started_ && !stat->has_ended();
}

std::vector<ProcessGroup::Process> ProcessGroup::processes() {
  std::vector<Process> found;
  std::error_code ignored;
  using Directory = std::filesystem::directory_iterator;
  for (Directory entry("/proc", ignored); entry != Directory(); entry.increment(ignored)) { // an error ends it
    const std::string name = entry->path().filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size())
      continue;
    if (const auto stat = process_stat(name))
      found.push_back({*stat, pid});
  }
  return found;
}

bool ProcessGroup::has_token(pid_t pid) const {
  const std::string wanted = fmt::format("{}={}", variable, token_);
  std::istringstream variables(environment_of(pid));
  std::string line;
  while (std::getline(variables, line, '\0'))
    if (line == wanted)
      return true;
  return false;
}

bool ProcessGroup::is_root(const Process& process, bool our_session) {
  if (our_session && process.session == leader_)
    return true;
  const auto member = members_.find(process.pid);
  if (member != members_.end() && member->second == process.started)
    return true;
  const auto other = others_.find(process.pid);
  if (other != others_.end() && other->second == process.started)
    return false;
  if (has_token(process.pid))
    return true;
  others_[process.pid] = process.started;
  return false;
}

std::vector<pid_t> ProcessGroup::members() {
  const std::vector<Process> all = processes();
  // Without its leader the number of a session may be another's.
  const bool our_session = std::any_of(all.begin(), all.end(), [&](const Process& process) {
    return process.pid == leader_ && process.started == leader_started_;
  });
  std::map<pid_t, std::uint64_t> found;
  for (const Process& process : all)
    if (process.pid != getpid() && is_root(process, our_session))
      found[process.pid] = process.started;
  for (bool grown = true; grown;) {
    grown = false;
    for (const Process& process : all)
      if (found.contains(process.parent) && found.emplace(process.pid, process.started).second)
        grown = true;
  }
  std::erase_if(others_, [&](const auto& other) {
    return std::none_of(all.begin(), all.end(), [&](const Process& process) { return process.pid == other.first; });
  });

  members_ = found;
  std::vector<pid_t> living;
  for (const Process& process : all) {
    if (!found.contains(process.pid))
      continue;
    if (!process.has_ended())
      living.push_back(process.pid);
    else if (process.parent == getpid() && process.pid != leader_)
      waitpid(process.pid, nullptr, WNOHANG);
  }
  std::stable_partition(living.begin(), living.end(), [&](pid_t pid) { return pid == leader_; });
  return living;
}

void ProcessGroup::signal(int number) {
  for (const pid_t pid : members())
    kill(pid, number);
}

} // namespace batchscope::program
