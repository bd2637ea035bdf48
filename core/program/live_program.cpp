#include "core/program/detail/live_program.h"

#include <chrono>

#include <poll.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/program/detail/child_start.h"
#include "core/program/output.h"

namespace batchscope::program {

namespace {

constexpr int look_ms = 50; ///< how often `stop` is asked

} // namespace

LiveProgram::LiveProgram(const run::RunSpec& spec, const Surroundings& surroundings, Welcome welcome,
                         std::function<bool()> stop)
    : folder_(ProgramFolder::temporary(place_.uid)), link_(std::make_unique<Link>(socket_folder(place_.uid))),
      inbox_(*link_, place_.uid, folder_.spill(), *this), welcome_(std::move(welcome)), stop_(std::move(stop)) {
  welcome_.run = place_.uid;
  folder_.make(*spec.program);
  try {
    child_ = std::make_unique<Child>(child_start(spec, surroundings, place_, folder_, *link_));
  } catch (...) {
    folder_.tidy(false);
    throw;
  }
}

LiveProgram::~LiveProgram() {
  child_.reset();
  folder_.tidy(false);
}

std::optional<Message> LiveProgram::next(double most_seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(most_seconds);
  while (true) {
    inbox_.serve();
    if (!messages_.empty()) {
      Message message = std::move(messages_.front());
      messages_.pop_front();
      return message;
    }
    if (exit_ || std::chrono::steady_clock::now() >= end)
      return std::nullopt;
    if (stop_ && stop_())
      throw Error(Error::Kind::failed, "stopped");
    std::vector<pollfd> waits{{child_->ended_fd(), POLLIN, 0}};
    link_->add_to(waits);
    ::poll(waits.data(), waits.size(), link_->has_more() ? 0 : look_ms);
    exit_ = child_->poll(); // what it had sent before is served once more
  }
}

Verdict LiveProgram::verdict() const {
  return verdict_on({.exit = *exit_,
                     .output_tail = OutputFollower(folder_.output()).tail(),
                     .stop_requested = false,
                     .oom = out_of_memory_,
                     .limit = welcome_.limit_bytes,
                     .peak = std::nullopt});
}

void LiveProgram::hello(const Hello& hello) {
  hello_ = hello;
  inbox_.send(to_line(welcome_));
}

void LiveProgram::message(const Message& message, bool /*live*/) {
  if (const std::int64_t seq = seq_of(message); seq > 0)
    inbox_.send(stored_line(seq));
  if (const auto* event = std::get_if<EventMessage>(&message); event && event->event.kind == "oom")
    out_of_memory_ = event->event;
  messages_.push_back(message);
}

void LiveProgram::fault(const char* /*kind*/, const std::string& /*line*/, const std::string& /*why*/) {}

} // namespace batchscope::program
