#include "core/program/trial/detail/live_program.h"

#include <fmt/format.h>
#include <poll.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/program/process/detail/child_start.h"
#include "core/program/process/output.h"

namespace batchscope::program {

namespace {

constexpr int look_ms = 50; ///< how often `stop` is asked

} // namespace

LiveProgram::LiveProgram(const run::RunSpec& spec, Surroundings surroundings, Welcome welcome,
                         std::function<bool()> stop)
    : link_(std::make_unique<Link>(socket_folder(trial_.uid()))),
      inbox_(*link_, trial_.uid(), trial_.folder().spill(), *this), welcome_(std::move(welcome)),
      stop_(std::move(stop)), patience_(spec.program->probe_seconds), host_limit_(surroundings.host_limit) {
  remove_abandoned_trials();
  remove_abandoned_sockets();
  welcome_.run = trial_.uid();
  surroundings.throws_away = true;
  run::RunPlace place;
  place.uid = trial_.uid();
  child_ = start_child(spec, surroundings, place, trial_.folder(), *link_, {});
  if (host_limit_)
    memory_.emplace(child_->group());
  asked_at_ = last_step_ = Clock::now();
}

LiveProgram::~LiveProgram() {
  child_.reset(); // before its socket and its folder go
}

void LiveProgram::ask(const std::string& line, std::int64_t steps) {
  inbox_.send(line);
  asked_at_ = last_step_ = Clock::now();
  steps_ = 0;
  most_steps_ = steps + most_other_steps;
}

bool LiveProgram::stands_still() const {
  return Clock::now() - last_step_ >= patience_;
}

void LiveProgram::count_printed_steps(const run::ProgramSpec& program) {
  metrics_.emplace(program.metrics);
  output_.emplace(trial_.folder().output());
  most_printed_ = program.probe_steps;
}

bool LiveProgram::prints_without_connecting() {
  if (hello_ || !output_ || metrics_->empty())
    return false;
  for (const std::string& line : output_->poll())
    printed_ += metrics_->take(line) ? 1 : 0;
  return printed_ >= most_printed_;
}

bool LiveProgram::made_too_many_steps() const {
  return steps_ > most_steps_ && Clock::now() - asked_at_ >= patience_;
}

bool LiveProgram::looks_too_large() {
  too_large_ = too_large_ || (memory_ && memory_->sample().value_or(0) > *host_limit_);
  return too_large_;
}

std::string LiveProgram::why_given_up() const {
  if (too_large_)
    return fmt::format("took {} of this machine's memory and was ended at {}: only the GPU is pretended, tensors that "
                       "are made on the CPU first take real memory",
                       format_bytes(*memory_->peak()), format_bytes(*host_limit_));
  if (stands_still())
    return fmt::format("made no step in {:g} s (--probe-seconds)", patience_.count());
  return fmt::format("made {} steps in {:g} s (--probe-seconds) without answering a request", steps_,
                     patience_.count());
}

std::optional<Message> LiveProgram::next() {
  while (true) {
    if (stop_ && stop_())
      throw Error(Error::Kind::failed, "stopped");
    inbox_.serve();
    // Messages that have arrived meanwhile count, but other messages without end do not.
    const bool in_vain = made_too_many_steps() || Clock::now() - last_step_ >= 2 * patience_;
    if (!messages_.empty() && !in_vain) {
      Message message = std::move(messages_.front());
      messages_.pop_front();
      if (std::holds_alternative<StepMessage>(message)) {
        last_step_ = Clock::now();
        ++steps_;
      }
      return message;
    }
    if (exit_ || in_vain || stands_still() || looks_too_large() || prints_without_connecting())
      return std::nullopt;
    std::vector<pollfd> waits{{child_->ended_fd(), POLLIN, 0}};
    link_->add_to(waits);
    ::poll(waits.data(), waits.size(), link_->has_more() ? 0 : look_ms);
    exit_ = child_->poll(); // what it had sent before is served once more
  }
}

Verdict LiveProgram::verdict() const {
  return verdict_on({.exit = *exit_,
                     .output_tail = OutputFollower(trial_.folder().output()).tail(),
                     .stop_requested = false,
                     .said_finished = false,
                     .oom = out_of_memory_,
                     .limit = welcome_.limit_bytes,
                     .peak = std::nullopt});
}

void LiveProgram::hello(const Hello& hello) {
  if (!hello_)
    welcome_.step = hello.step + 1;
  hello_ = hello;
  inbox_.send(to_line(welcome_));
}

void LiveProgram::message(const Message& message, bool /*live*/) {
  if (const std::int64_t seq = seq_of(message); seq > 0)
    inbox_.send(stored_line(seq));
  if (const auto* event = std::get_if<EventMessage>(&message))
    if (const auto* error = std::get_if<telemetry::OutOfMemory>(&event->event.body); error && !survived(*error))
      out_of_memory_ = *error;
  messages_.push_back(message);
}

} // namespace batchscope::program
