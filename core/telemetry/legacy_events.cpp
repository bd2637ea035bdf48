#include "core/telemetry/detail/legacy_events.h"

#include <array>
#include <charconv>
#include <optional>
#include <string_view>

#include "core/base/text.h"
#include "core/telemetry/message.h"

namespace batchscope::telemetry {

namespace {

using Cause = OutOfMemory::Cause;
using Counts = OutOfMemory::Counts;
using Outcome = OutOfMemory::Outcome;
using Where = OutOfMemory::Where;

struct EarlierCause {
  const char* text;
  Cause cause;
};
/// Causes in the words of all versions before there were codes.
constexpr std::array earlier_causes = {
    EarlierCause{"unknown", Cause::unknown},
    EarlierCause{"a larger micro batch was tried again (--grow-back)", Cause::growing_back},
    EarlierCause{"the first batch does not fit in memory", Cause::first_batch},
    EarlierCause{"the first batch is too large for the memory", Cause::first_batch},
    EarlierCause{"the schedule asked for a larger batch", Cause::schedule},
    EarlierCause{"an example is longer than all previous ones", Cause::longer_example},
    EarlierCause{"an example longer than any before", Cause::longer_example},
    EarlierCause{"memory use between steps has grown (possible leak)", Cause::growth},
    EarlierCause{"memory in use between steps has grown (a leak)", Cause::growth},
    EarlierCause{"fragmentation: much more is reserved than in use", Cause::fragmentation},
    EarlierCause{"another process uses more device memory", Cause::other_process},
    EarlierCause{"another process took memory of the device", Cause::other_process},
    EarlierCause{"device", Cause::device},
    EarlierCause{"host", Cause::host},
    EarlierCause{"kernel", Cause::kernel},
    EarlierCause{"loader worker", Cause::loader_worker},
};

struct EarlierReason {
  const char* text;
  Words words;
};
/// Sentences of the first clients that are codes now.
constexpr std::array earlier_reasons = {
    EarlierReason{"on_oom is fail", Words::on_oom_fail},
    EarlierReason{"a single example does not fit", Words::single_example},
    EarlierReason{"not even two examples fit", Words::pair_does_not_fit},
    EarlierReason{"its loss is no mean over its examples", Words::examples_interact},
    EarlierReason{"its batch cannot be cut along the examples", Words::cannot_cut},
};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool says(const Json& detail, const char* name) {
  const auto found = detail.find(name);
  return found != detail.end() && !found->is_null();
}

/// Rest of the text after `begin`, if the text begins so.
std::optional<std::string_view> after(std::string_view text, std::string_view begin) {
  return text.starts_with(begin) ? std::optional(text.substr(begin.size())) : std::nullopt;
}

/// The number with which the text begins, its thousands separated by commas or not.
std::optional<std::int64_t> leading_number(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c >= '0' && c <= '9')
      digits += c;
    else if (c != ',' || digits.empty())
      break;
  }
  std::int64_t number = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return digits.empty() || parsed.ec != std::errc() ? std::nullopt : std::optional(number);
}

Reason earlier_reason(std::string_view text) {
  for (const EarlierReason& known : earlier_reasons)
    if (text == known.text)
      return because(known.words);
  return as_told(std::string(text));
}

/// Completes an error of the engine: whether its micro batches got smaller.
void complete_of_engine(std::string_view action, OutOfMemory& event) {
  event.counts = Counts::budget;
  if (!event.micro_batches_after) {
    event.where = Where::evaluation;
    event.outcome = Outcome::smaller;
    return;
  }
  if (*event.micro_batches_after > event.micro_batches_before.value_or(1)) {
    event.outcome = Outcome::split;
    return;
  }
  if (contains(action, "--on-oom"))
    event.reason = because(Words::on_oom_fail);
  else if (event.attempted_batch.value_or(0) <= 1 || contains(action, "one example"))
    event.reason = because(Words::single_example);
}

/// Completes an error of a program, from its own words or those of its watcher.
void complete_of_program(std::string_view action, OutOfMemory& event) {
  if (action == "the program has ended") {
    event.where = Where::outside;
    event.counts = Counts::process;
  } else if (const auto why = after(action, "not split")) {
    if (const auto reason = after(*why, ": "))
      event.reason = earlier_reason(*reason);
  } else if (action.starts_with("split")) {
    event.outcome = Outcome::split;
    if (const auto size = after(action, "split into micro batches of at most "))
      event.split_to = leading_number(*size);
  } else if (!action.empty()) {
    event.outcome = Outcome::retried;
  }
}

} // namespace

void complete_earlier(const Json& detail, OutOfMemory& event) {
  const OutOfMemory given = event;
  const std::string action = text_member(detail, "action"), cause = text_member(detail, "cause");
  for (const EarlierCause& known : earlier_causes)
    if (cause == known.text)
      event.cause = known.cause;
  if (cause == "evaluation")
    event.where = Where::evaluation;
  else if (cause == "optimizer state")
    event.where = Where::update;
  const bool of_engine = event.micro_batches_after || (event.split_to && action.find("split") == std::string::npos);
  of_engine ? complete_of_engine(action, event) : complete_of_program(action, event);
  // Codes take precedence over words.
  event.where = says(detail, "where") ? given.where : event.where;
  event.counts = says(detail, "in_use_of") ? given.counts : event.counts;
  event.cause = says(detail, "cause_code") ? given.cause : event.cause;
  event.reason = given.reason.empty() ? event.reason : given.reason;
  if (detail.contains("split_to")) // what was not understood is not guessed
    event.split_to = given.split_to;
}

void complete_earlier(const Json& detail, BudgetChange& event) {
  const std::string message = text_member(detail, "message");
  if (event.refused || event.asked_bytes || says(detail, "why") || (message.empty() && event.reason.empty()))
    return;
  if (message.starts_with("follows the memory")) {
    event.why = BudgetChange::Why::follows_free_memory;
    return;
  }
  event.why = BudgetChange::Why::taken_back;
  if (!event.reason.empty())
    return;
  if (message.starts_with("not even one example fits"))
    event.reason = because(Words::single_example);
  else if (const auto why = after(message, "the step could not be made: "))
    event.reason = earlier_reason(why->substr(0, why->rfind("; the budget is")));
}

void complete_earlier(const Json& detail, Resumed& event) {
  if (event.from_step || says(detail, "notes"))
    return;
  const std::string message = text_member(detail, "message");
  std::string_view rest = message;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find("; "));
    rest.remove_prefix(std::min(rest.size(), part.size() + 2));
    if (const auto step = after(part, "from the checkpoint at step "))
      event.from_step = leading_number(*step);
    else if (!part.ends_with("made again"))
      event.notes.push_back(as_told(std::string(part)));
  }
}

void complete_earlier(const Json& detail, SecondProgram& event) {
  const std::string message = text_member(detail, "message");
  if (says(detail, "pid"))
    return;
  if (const auto pid = after(message, "process "))
    event.pid = leading_number(*pid).value_or(0);
  constexpr std::string_view rank = "as rank ";
  if (const std::size_t at = message.find(rank); at != std::string::npos)
    event.rank = leading_number(message.substr(at + rank.size())).value_or(0);
}

void complete_earlier(const Json& detail, LeftBehind& event) {
  constexpr std::string_view begin = "the program has ended without a step, so ";
  const std::string message = text_member(detail, "message");
  const auto rest = after(message, begin);
  if (!event.processes && rest)
    event.processes = rest->starts_with("a process") ? 1 : leading_number(*rest);
}

void complete_earlier(const Json& detail, TimeOver& event) {
  constexpr std::string_view begin = "the program is stopped after ";
  const std::string message = text_member(detail, "message");
  const auto rest = after(message, begin);
  if (event.seconds || !rest)
    return;
  double seconds = 0;
  if (std::from_chars(rest->data(), rest->data() + rest->size(), seconds).ec == std::errc())
    event.seconds = seconds;
}

/// Also of the sentence that this version writes for earlier ones.
void complete_earlier(const Json& /*detail*/, Retry& event) {
  const char* end = event.after == Retry::After::garbage ? "ran out of memory beside what only cycles of references"
                                                         : "ran out of memory while libraries compiled kernels";
  if (!event.text.starts_with("a micro batch") || !contains(event.text, end))
    return;
  if (const auto size = after(event.text, "a micro batch of "); size && !event.attempted_batch)
    event.attempted_batch = leading_number(*size);
  event.text.clear();
}

void complete_earlier(const Json& /*detail*/, RateBySteps& event) {
  if (event.text == "the program's own rate scheduler goes on counting steps")
    event.text.clear();
}

} // namespace batchscope::telemetry
