#include "core/program/run/steering.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/program/process/command.h"
#include "core/run/apply_edit.h"
#include "core/run/run_plan.h"
#include "core/telemetry/message.h"

namespace batchscope::program {

namespace {

using telemetry::Words;

/// Steps that a program may make without asking, at most: planning them takes about a millisecond.
constexpr std::int64_t longest_hold = 1000;
/// A program that goes on from a checkpoint has made steps that are planned once more.
constexpr std::int64_t most_steps_before = 10'000'000;

double not_known() {
  return std::numeric_limits<double>::quiet_NaN();
}

schedule::RunLength length_of(const Hello& hello) {
  schedule::RunLength length;
  if (hello.steps) {
    length.steps = hello.steps;
  } else if (hello.epochs && std::isfinite(*hello.epochs) && *hello.epochs > 0 && *hello.epochs < 1e9) {
    const double epochs = *hello.epochs;
    if (epochs == std::floor(epochs))
      length.epochs = static_cast<std::int64_t>(epochs);
    else if (hello.examples)
      length.examples =
          static_cast<std::int64_t>(std::min(std::ceil(epochs * static_cast<double>(*hello.examples)), 0x1p53));
  }
  return length;
}

schedule::ProgressionOptions options_of(const run::RunSpec& spec, const run::RunStart& start) {
  if (start.train_examples < 1)
    throw input_error("its loader has no examples");
  return run::progression_options(spec, start);
}

/// Nothing while the plan cannot be known, or is too long to be worth the time.
std::optional<std::int64_t> steps_of(const schedule::ProgressionOptions& options) {
  constexpr std::int64_t most_steps = 200'000;
  if (options.length.steps)
    return *options.length.steps < (std::int64_t{1} << 40) ? options.length.steps : std::nullopt;
  schedule::Progression progression(options);
  if (progression.needs_feedback())
    return std::nullopt;
  while (progression.steps_done() < most_steps && progression.next())
    progression.done();
  return progression.next() ? std::nullopt : std::optional(progression.steps_done());
}

/// Rank 0 alone says what it took.
std::int64_t examples_of_rank_0(const data::StepTakes& takes) {
  std::int64_t examples = 0;
  for (std::size_t i = 0; i < takes.takes.size(); i += static_cast<std::size_t>(takes.ranks))
    examples += takes.takes[i];
  return examples;
}

telemetry::Reason few_examples(std::int64_t examples, std::int64_t ranks) {
  telemetry::Reason reason = telemetry::because(Words::few_examples, {{"examples", examples}});
  if (ranks > 1)
    reason.args["ranks"] = ranks;
  return reason;
}

} // namespace

run::RunStart start_of(const run::RunSpec& spec, const Hello& hello) {
  run::RunStart start;
  start.batch =
      sends_batch(spec) ? spec.batch.number : hello.batch.value_or(std::max<std::int64_t>(spec.batch.number, 0));
  start.train_examples = hello.examples.value_or(0);
  if (level_of(hello) >= 2 && start.train_examples > 0)
    start.batch = std::clamp(start.batch, std::int64_t{1},
                             std::max<std::int64_t>(start.train_examples / hello.world, 1)); // as the program does
  start.accumulate = spec.accumulate > 1 ? spec.accumulate : hello.accumulate.value_or(1);
  start.parameters = hello.parameters.value_or(0);
  start.budget_bytes = spec.memory_budget.value_or(0);
  start.program = run::ProgramStart{.level = level_of(hello),
                                    .first_batch = takes_first_batch(hello),
                                    .name = shortened(one_line(hello.name)),
                                    .framework = hello.framework,
                                    .torch = hello.torch,
                                    .device = hello.device_name.empty() ? hello.device : hello.device_name,
                                    .length = length_of(hello),
                                    .ranks = hello.world,
                                    .drop_last = hello.drop_last,
                                    .settings = hello.settings_json};
  return start;
}

void check_followable(const schedule::Progression& progression, const run::RunStart& start) {
  if (progression.needs_noise())
    throw input_error("the schedule needs the gradient noise scale, which programs do not measure; accepted: a "
                      "schedule and a learning-rate rule without it",
                      "schedule");
  if (start.program->length == schedule::RunLength() && progression.needs_length())
    throw input_error("the schedule follows the whole run, whose length the program does not say; accepted: a schedule "
                      "with a length of its own, such as linear:max=64,epochs=10, or run.loader(..., epochs=10) in the "
                      "program",
                      "schedule");
}

Steering::Steering(const run::RunSpec& spec, const Hello& hello, Report report)
    : report_(std::move(report)), start_(start_of(spec, hello)), options_(options_of(spec, start_)),
      progression_(options_,
                   [this](const schedule::ScheduleEvent& event) {
                     if (!repeating_)
                       report_(event.step, body_of(event));
                   }),
      budget_(spec.memory_budget), steers_(sends_batch(spec) || spec.accumulate > 1 || spec.schedule != "constant") {
  check_followable(progression_, start_);
  start_.expected_steps = steps_of(options_);
  note_present();
  if (sends_batch(spec) && spec.batch.number > start_.batch)
    report_(hello.step, telemetry::Clamp{.what = telemetry::Clamp::What::batch,
                                         .asked = spec.batch.number,
                                         .taken = start_.batch,
                                         .reason = few_examples(start_.train_examples, hello.world)});
}

void Steering::note_present() {
  if (const auto step = progression_.next())
    present_ = size_of(*step);
}

void Steering::repeat(const std::vector<schedule::PlanEdit>& edits, std::int64_t steps) {
  repeating_ = true;
  const std::int64_t last = std::min(steps, most_steps_before);
  auto edit = edits.begin();
  const auto apply_due = [&] {
    for (; edit != edits.end() && edit->after_step <= progression_.steps_done(); ++edit) {
      run::apply_edit({.schedule = edit->schedule, .batch = edit->batch}, progression_);
      steers_ = true;
    }
  };
  apply_due();
  while (progression_.steps_done() < last && progression_.next()) {
    progression_.done();
    apply_due();
  }
  repeating_ = false;
  note_present();
}

Steering::Size Steering::size_of(const schedule::PlannedStep& step) const {
  return {step.batch, step.learning_rate / options_.learning_rate.base};
}

/// The progression as the program will follow it, once it has taken over what was sent to it.
schedule::Progression Steering::with_pending() const {
  schedule::Progression ahead = progression_;
  if (!pending_.empty())
    if (const auto* edit = std::get_if<run::ScheduleEdit>(&pending_.front().change))
      run::apply_edit(*edit, ahead);
  return ahead;
}

/// The next step's size, and for how many steps it holds.
Next Steering::next_of(schedule::Progression progression) {
  Next next{.step = progression_.steps_done() + 1, .accumulate = options_.sampler.accumulate};
  auto step = progression.next();
  const Size size = step ? size_of(*step) : present_;
  next.batch = size.batch;
  next.rate_factor = size.rate_factor;
  sent_ = size;
  if (progression.needs_feedback()) {
    next.hold = step ? 1 : 0;
  } else {
    while (step && size_of(*step) == size && next.hold < longest_hold) {
      ++next.hold;
      progression.done();
      step = progression.next();
    }
    if (!step) // to the end of the plan
      next.hold = 0;
  }
  held_to_ = next.hold > 0 ? next.step + next.hold - 1 : std::numeric_limits<std::int64_t>::max();
  return next;
}

Next Steering::welcome() {
  for (; !pending_.empty(); pending_.pop_front()) {
    const auto* budget = std::get_if<run::BudgetChange>(&pending_.front().change);
    apply(pending_.front().change, budget && budget->bytes > 0);
  }
  return next_of(progression_);
}

std::string Steering::take(const StepMessage& message) {
  const std::int64_t step = message.record.step;
  if (step - progression_.steps_done() > most_steps_before)
    return {}; // no plan of this run comes there
  while (progression_.steps_done() + 1 < step && progression_.next())
    progression_.done(); // its record was lost
  const auto planned = progression_.next();
  if (planned && planned->step == step) {
    compare(*planned, message);
    const auto limit = static_cast<double>(budget_.value_or(0));
    progression_.done(
        {.loss = message.record.loss,
         .vram_fraction = limit > 0 ? static_cast<double>(message.record.peak_bytes) / limit : not_known()});
    note_present();
  }
  return message.ask || progression_.steps_done() >= held_to_ ? to_line(next_of(with_pending())) : std::string();
}

void Steering::compare(const schedule::PlannedStep& planned, const StepMessage& message) {
  const std::int64_t batch = message.record.batch > 0 ? message.record.batch : planned.batch;
  const std::int64_t planned_examples = examples_of_rank_0(planned.takes);
  const std::int64_t examples =
      message.takes.empty() ? planned_examples
                            : static_cast<std::int64_t>(std::accumulate(message.takes.begin(), message.takes.end(),
                                                                        std::uint64_t{0})); // may wrap
  if (batch == planned.batch && examples == planned_examples)
    return;
  if (steers_ && !differed_) // else the program's own size is the plan
    report_(planned.step, telemetry::Differs{.planned_batch = planned.batch,
                                             .planned_examples = planned_examples,
                                             .batch = batch,
                                             .examples = examples});
  differed_ = differed_ || steers_;
  if (batch != planned.batch) {
    progression_.make_next_with(batch);
    progression_.next();
  }
}

std::string Steering::request(const run::ScheduleEdit& edit) {
  return request(Change(edit));
}

std::string Steering::request(const run::BudgetChange& change) {
  return request(Change(change));
}

std::string Steering::request(Change change) {
  pending_.push_back({++last_id_, std::move(change)});
  return pending_.size() == 1 ? send_first() : std::string();
}

/// Sends the first change that waits; those that need not go to the program are applied at once.
std::string Steering::send_first() {
  while (!pending_.empty()) {
    const Pending& first = pending_.front();
    if (const auto* budget = std::get_if<run::BudgetChange>(&first.change)) {
      if (budget->bytes > 0)
        return to_line(Edit{.id = first.id, .limit_bytes = budget->bytes});
    } else {
      schedule::Progression ahead = progression_;
      if (!run::is_refused(run::apply_edit(std::get<run::ScheduleEdit>(first.change), ahead))) {
        const Next next = next_of(std::move(ahead));
        return to_line(Edit{.id = first.id,
                            .batch = next.batch,
                            .accumulate = next.accumulate,
                            .rate_factor = next.rate_factor,
                            .hold = next.hold});
      }
    }
    apply(first.change, false);
    pending_.pop_front();
  }
  return {};
}

std::string Steering::take(const Applied& applied) {
  if (pending_.empty() || pending_.front().id != applied.id)
    return {};
  const Change change = std::move(pending_.front().change);
  pending_.pop_front();
  const auto* budget = std::get_if<run::BudgetChange>(&change);
  apply(change, budget && applied.limit_bytes == budget->bytes);
  return correction() + send_first();
}

/// The program has applied an edit at another step than it was computed for: what follows may be another size then.
std::string Steering::correction() {
  const std::optional<Size> told = sent_;
  const std::int64_t held_to = held_to_;
  const Next next = next_of(progression_);
  return told == sent_ && held_to == held_to_ ? std::string() : to_line(next);
}

void Steering::apply(const Change& change, bool taken) {
  if (const auto* budget = std::get_if<run::BudgetChange>(&change))
    return report_budget(*budget, taken);
  steers_ = true;
  telemetry::EventBody answer = run::apply_edit(std::get<run::ScheduleEdit>(change), progression_);
  note_present();
  send_event(std::move(answer));
}

void Steering::report_budget(const run::BudgetChange& change, bool taken) {
  telemetry::BudgetChange answer{.before_bytes = budget_, .asked_bytes = change.bytes, .command = change.command};
  if (taken) {
    budget_ = change.bytes;
    answer.applies_from_step = progression_.steps_done() + 1;
  } else {
    answer.refused = telemetry::because(change.bytes == 0 ? Words::budget_zero : Words::budget_refused_by_program);
  }
  answer.budget_bytes = budget_;
  send_event(std::move(answer));
}

void Steering::close() {
  for (const Pending& pending : pending_)
    if (const auto* edit = std::get_if<run::ScheduleEdit>(&pending.change))
      send_event(run::refused(*edit, telemetry::because(Words::too_late_for_program)));
  pending_.clear();
}

void Steering::send_event(telemetry::EventBody body) {
  report_(progression_.steps_done(), std::move(body));
}

} // namespace batchscope::program
