#include "app/cli/display.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "app/cli/describe.h"
#include "core/base/text.h"
#include "core/run/run_plan.h"

namespace batchscope::cli {

namespace {

constexpr std::chrono::milliseconds redraw_interval{100};
constexpr const char* clear_line = "\r\x1b[K";

std::size_t terminal_width() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return 80;
  return size.ws_col;
}

/// Share of the run that is done, 0..1.
double fraction_done(const schedule::RunLength& length, const telemetry::StepRecord& record) {
  const double known = static_cast<double>(record.epoch_index) + record.train_coverage;
  const double epochs = std::isfinite(known) ? std::max(known, 0.0) : 0;
  return std::clamp(schedule::fraction_done(length, record.step, record.examples_seen, epochs).value_or(0), 0.0, 1.0);
}

} // namespace

Display::Display(const Context& context)
    : quiet_(context.quiet), palette_(Palette::for_stderr()), thread_([this] { work(); }) {}

Display::~Display() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    running_.reset();
  }
  changed_.notify_all();
  thread_.join();
}

void Display::say(std::string line) {
  if (!quiet_)
    add_line(std::move(line));
}

void Display::add_line(std::string line) {
  {
    const std::lock_guard lock(mutex_);
    lines_.push_back(std::move(line));
  }
  changed_.notify_all();
}

void Display::combination(std::size_t index, std::size_t count, const run::RunSpec& spec) {
  say(palette_.paint(Colour::accent, fmt::format("{} of {}: {}", index + 1, count, spec.name)));
}

void Display::refused(std::int64_t id, const std::string& reason) {
  say(palette_.paint(Colour::bad, fmt::format("run {} failed to start: {}", id, reason)));
}

void Display::probe(const search::Probe& probe, std::uint64_t budget_bytes) {
  const bool fits = probe.outcome == search::Outcome::fits;
  std::string text = fmt::format("probe {:>2}  {} {:>7}", ++probes_, probe.how == "evaluation" ? "evaluation" : "batch",
                                 format_count(probe.batch));
  if (probe.peak_bytes) {
    const double fraction = static_cast<double>(*probe.peak_bytes) / static_cast<double>(budget_bytes);
    if (palette_.terminal())
      text += "  " + bar(fits ? fraction : 1, 20);
    // Memory that the libraries of a program have mapped is in its peak, but not in its budget.
    text += fits && fraction > 1 ? fmt::format("  peak {:>9} with libraries, at most {} without",
                                               format_bytes(*probe.peak_bytes), format_bytes(budget_bytes))
                                 : fmt::format("  peak {:>9} of {} ({:.1f} %)", format_bytes(*probe.peak_bytes),
                                               format_bytes(budget_bytes), 100 * fraction);
  }
  if (probe.predicted_bytes)
    text += fmt::format("  predicted {:>9}", format_bytes(*probe.predicted_bytes));
  if (probe.examples_per_second)
    text += fmt::format("  {:>7} examples/s", format_count(std::llround(*probe.examples_per_second)));
  if (probe.outcome == search::Outcome::out_of_memory)
    text += "  out of memory";
  else
    text += fits ? "  fits" : "  error: " + probe.message;
  say(palette_.paint(fits ? Colour::plain : Colour::bad, text));
}

void Display::timing(const search::Timing& timing) {
  if (timing.stretches > 1)
    return; // timed again; the answer combines all timings of the size
  say(fmt::format("timed     batch {:>7}  {} per step, {} examples/s", format_count(timing.batch),
                  format_duration(timing.seconds), format_count(std::llround(timing.examples_per_second))));
}

void Display::started(const job::StartedRun& run) {
  const auto& [id, spec, start, began, control] = run;
  if (spec.program) {
    const std::string command = command_shown(spec, start, id, "{out}"); // a folder that has no name yet
    say(fmt::format("run {}: {}", id, shortened(command)));
    return begin({}, 0); // how long it is, the program knows
  }
  say(fmt::format(
      "run {}: {}, batch {}{}, {} parameters, {} of {} in use before the first step", id, spec.model,
      format_count(start.batch), start.accumulate > 1 ? fmt::format(" x {}", start.accumulate) : std::string(),
      format_count(start.parameters), format_bytes(start.baseline_bytes), format_bytes(start.budget_bytes)));
  if (!start.batch_reason.empty())
    say(fmt::format("batch {}: {}", format_count(start.batch), start.batch_reason));
  for (const auto& note : start.notes)
    say("note: " + note);
  begin(run::countable_length(spec, start.batch), start.budget_bytes);
}

void Display::watching(std::int64_t id, const std::string& name) {
  say(fmt::format("run {}: {}", id, name));
  begin({}, 0);
}

void Display::begin(const schedule::RunLength& length, std::uint64_t budget) {
  const std::lock_guard lock(mutex_);
  running_ = Running{length, budget, {}, {}};
}

void Display::record(const telemetry::StepRecord& record) {
  const std::lock_guard lock(mutex_);
  if (!running_)
    return;
  running_->last = record;
  running_->clock.take(record);
}

void Display::event(telemetry::Event event) {
  if (!telemetry::has_happened(event))
    return; // only values
  say(event_line(event, palette_));
  const std::lock_guard lock(mutex_);
  if (running_)
    running_->clock.take(event);
}

void Display::not_stored(const std::string& why) {
  add_line(why.empty() ? "saved; nothing was lost" : palette_.paint(Colour::bad, "not saved yet; retrying: " + why));
}

void Display::files_replaced(const std::string& what) {
  add_line(palette_.paint(Colour::bad, what));
}

void Display::ended(std::int64_t id, const telemetry::RunOutcome& outcome) {
  {
    const std::lock_guard lock(mutex_);
    running_.reset();
  }
  probes_ = 0;
  std::string text =
      fmt::format("run {} {} after {} steps", id, telemetry::to_string(outcome.status), format_count(outcome.steps));
  if (!outcome.reason.empty())
    text += ": " + outcome.reason;
  say(palette_.paint(outcome.status == telemetry::RunStatus::failed ? Colour::bad : Colour::plain, text));
}

std::string Display::progress_line(const Running& running) const {
  const telemetry::StepRecord& last = running.last;
  const double fraction = fraction_done(running.length, last);
  const bool measured = running.length.steps || running.length.examples || running.length.epochs;
  const std::string done = measured ? fmt::format("{} {:3.0f} %  ", bar(fraction, 12), 100 * fraction) : std::string();
  const std::string budget = running.budget > 0 ? " of " + format_bytes(running.budget) : std::string();
  const std::string left = fraction > 0 ? format_duration(last.seconds * (1 - fraction) / fraction) + " left" : "";
  const double rate = running.clock.examples_per_second();
  // The most important figures come first: a narrow terminal cuts the end off. A program may not report all of them.
  std::string text = done + left;
  if (rate > 0)
    text += fmt::format("  {} examples/s", format_count(std::llround(rate)));
  text += fmt::format("  step {}  loss {}", format_count(last.step), figure(last.loss));
  if (last.batch > 0)
    text += fmt::format("  batch {}", format_count(last.batch));
  if (last.peak_bytes > 0)
    text += fmt::format("  {}{}", format_bytes(static_cast<std::uint64_t>(last.peak_bytes)), budget);
  if (std::isfinite(last.epoch))
    text += fmt::format("  epoch {:.2f}", last.epoch);
  // A line that wraps could not be cleared again.
  text.resize(std::min(text.size(), terminal_width() - 1));
  return text;
}

void Display::work() {
  const auto urgent = [this] { return closing_ || !lines_.empty(); };
  bool drawn = false;
  std::unique_lock lock(mutex_);
  while (!closing_ || !lines_.empty()) {
    changed_.wait_for(lock, redraw_interval, urgent);
    std::string output = drawn ? clear_line : "";
    for (const auto& line : lines_)
      output += with_own_codes(line) + '\n';
    lines_.clear();
    drawn = palette_.terminal() && !quiet_ && running_ && running_->last.step > 0;
    if (drawn)
      output += progress_line(*running_);
    lock.unlock();
    std::fwrite(output.data(), 1, output.size(), stderr);
    std::fflush(stderr);
    lock.lock();
  }
  if (drawn)
    std::fputs(clear_line, stderr);
}

} // namespace batchscope::cli
