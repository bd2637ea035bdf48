// Descriptions of events of a run of the user's own program.
#include <algorithm>
#include <string_view>

#include "core/base/text.h"
#include "core/telemetry/detail/descriptions.h"

namespace batchscope::telemetry {

namespace {

constexpr char escape = '\x1b';

/// A title, and one sentence about it.
Description titled(Words title, Message sentence, bool alarming = false) {
  return {.title = {title}, .details = {sentence}, .sentence = {std::move(sentence)}, .alarming = alarming};
}

/// Without the sequences with which a terminal is told to change colours or to move its cursor.
std::string without_sequences(std::string_view line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != escape) {
      text += line[i];
      continue;
    }
    const bool parameters = i + 1 < line.size() && line[i + 1] == '[';
    i += parameters ? 2 : 1;
    while (parameters && i < line.size() && (line[i] < '@' || line[i] > '~'))
      ++i;
  }
  return text;
}

/// As a terminal shows it in the end: a carriage return begins the line again.
std::string as_shown(std::string_view line) {
  while (line.ends_with('\r'))
    line.remove_suffix(1);
  const std::size_t begin = line.rfind('\r');
  return one_line(without_sequences(begin == std::string_view::npos ? line : line.substr(begin + 1)));
}

/// The last line that shows anything; empty if none does.
std::string last_line_of(std::string_view tail) {
  while (!tail.empty()) {
    const std::size_t end = tail.rfind('\n');
    if (std::string line = as_shown(tail.substr(end + 1)); !line.empty()) // npos + 1 is 0
      return line;
    tail = tail.substr(0, end == std::string_view::npos ? 0 : end);
  }
  return {};
}

Words what_works(std::int64_t level) {
  if (level >= 3)
    return Words::works_3;
  return level == 2 ? Words::works_2 : Words::works_1;
}

/// Words about a level: for 1, for 2, and for others.
Words of_level(std::int64_t level, Words one, Words two, Words other) {
  return level == 1 ? one : level == 2 ? two : other;
}

Message status_words(const std::string& status) {
  for (const Words known : {Words::status_finished, Words::status_stopped, Words::status_failed})
    if (id_of(known) == "status-" + status)
      return {known};
  return verbatim(status);
}

} // namespace

Description description_of(const ProgramConnected& event) {
  Description description{.title = {Words::program_connected}};
  std::vector<Message> about;
  for (const std::string& text : {event.framework, event.device})
    if (!text.empty())
      about.push_back(verbatim(text));
  if (event.examples)
    about.push_back(MessageOf(Words::has_examples).count("examples", event.examples));
  if (event.given_batch) {
    if (event.batch)
      description.before = Count{*event.batch};
    description.after = Count{*event.given_batch};
  } else if (event.batch) {
    description.after = Count{*event.batch};
  }
  description.details = about;
  description.details.push_back({what_works(event.level)});
  if (event.given_batch && event.batch)
    about.push_back(
        MessageOf(Words::batch_in_place).count("given_batch", event.given_batch).count("batch", event.batch));
  description.sentence = {MessageOf(Words::program_connected_line)
                              .list("about", std::move(about))
                              .words("works", {what_works(event.level)})};
  return description;
}

Description description_of(const ProgramLevel& event) {
  Description description{.title = MessageOf(of_level(event.level, Words::level_1, Words::level_2, Words::level_other))
                                       .count("level", event.level)};
  if (!event.reason.empty())
    description.details = {message_of(event.reason)};
  description.sentence = {
      MessageOf(of_level(event.level, Words::level_1_because, Words::level_2_because, Words::level_other_because))
          .count("level", event.level)
          .reason("reason", event.reason)};
  return description;
}

Description description_of(const Watched& event) {
  Description description{.title = {Words::watched}};
  if (!event.reason.empty())
    description.details = {message_of(event.reason)};
  description.sentence = {MessageOf(Words::watched_because).reason("reason", event.reason)};
  return description;
}

Description description_of(const ProgramExit& event) {
  Description description{.title = {Words::program_ended}};
  description.alarming = event.signal.has_value() || event.exit_code.value_or(0) != 0;
  if (event.exit_code) {
    description.details = {MessageOf(Words::exit_status).plain("exit_code", event.exit_code)};
    description.sentence = {MessageOf(Words::program_ended_line).plain("exit_code", event.exit_code)};
  } else if (event.signal) {
    description.details = {MessageOf(Words::signal).plain("signal", event.signal)};
    description.sentence = {MessageOf(Words::program_ended_by_signal).plain("signal", event.signal)};
  } else {
    description.sentence = {{Words::program_ended_line}};
  }
  return description;
}

/// The last line; all that was kept is in the event.
Description description_of(const ProgramOutput& event) {
  Description description{.title = {Words::last_output}, .alarming = true};
  const std::string line = last_line_of(event.tail);
  if (!line.empty())
    description.details = {verbatim(line)};
  description.sentence = {MessageOf(Words::last_line)
                              .words("line", line.empty() ? Message{Words::no_line} : verbatim(line))
                              .text("file", event.file)};
  return description;
}

Description description_of(const ProgramBye& event) {
  Description description{.title = {Words::last_word}};
  description.details = {status_words(event.status)};
  if (!event.reason.empty())
    description.details.push_back(verbatim(event.reason));
  description.sentence = {
      MessageOf(Words::last_word_line).words("status", status_words(event.status)).text("reason", event.reason)};
  return description;
}

Description description_of(const ProtocolFault& event) {
  Description description{.title = {Words::not_understood}, .alarming = true};
  description.sentence = {MessageOf(event.by_program ? Words::not_understood_by_program : Words::not_understood_because)
                              .reason("reason", event.reason)
                              .text("line", event.line)};
  description.details = description.sentence;
  return description;
}

Description description_of(const SecondProgram& event) {
  return titled(Words::second_program,
                MessageOf(Words::second_program_line).plain("pid", event.pid).plain("rank", event.rank));
}

Description description_of(const Silent& event) {
  return titled(Words::silent, MessageOf(Words::silent_since).seconds("seconds", event.seconds), true);
}

Description description_of(const NotFollowed& event) {
  return titled(Words::not_followed, message_of(event.reason), true);
}

Description description_of(const TimeOver& event) {
  return titled(Words::time_over, MessageOf(Words::time_over_line).number("seconds", event.seconds));
}

Description description_of(const NoBye& /*event*/) {
  return titled(Words::no_bye, {Words::no_bye_line});
}

Description description_of(const LeftBehind& event) {
  return titled(Words::left_behind,
                event.processes == 1 ? Message{Words::left_behind_one}
                                     : Message(MessageOf(Words::left_behind_some).count("processes", event.processes)),
                true);
}

Description description_of(const Unread& event) {
  return titled(Words::unread, message_of(event.reason));
}

Description description_of(const Late& event) {
  return titled(Words::late, MessageOf(Words::late_by).seconds("seconds", event.seconds));
}

Description description_of(const Lost& event) {
  Description description{.title = {Words::lost}, .alarming = true};
  description.details = {MessageOf(Words::lost_lines).count("lines", event.lines)};
  description.sentence = {MessageOf(Words::lost_line).count("lines", event.lines)};
  return description;
}

Description description_of(const Lint& event) {
  Description description{.title = {Words::lint}};
  description.details = {message_of(event.reason)};
  description.sentence = {MessageOf(Words::lint_line).reason("reason", event.reason)};
  return description;
}

Description description_of(const LossScale& event) {
  return titled(Words::loss_scale,
                MessageOf(event.text.empty() ? Words::gradients_too_large : Words::scale_as_told)
                    .number("factor", event.factor)
                    .text("text", event.text),
                true);
}

Description description_of(const ProbeResult& event) {
  const bool evaluates = event.evaluation.has_value();
  MessageOf message(!event.error.empty() ? Words::evaluation_failed
                    : event.fits         ? (evaluates ? Words::evaluation_fits : Words::probe_fits)
                    : evaluates          ? Words::evaluation_does_not_fit
                                         : Words::probe_does_not_fit);
  message.count("batch", event.evaluation.value_or(event.batch));
  if (!event.error.empty())
    message.text("error", event.error);
  if (event.peak_bytes && *event.peak_bytes > 0)
    message.bytes("peak_bytes", static_cast<std::uint64_t>(*event.peak_bytes));
  return titled(Words::probe, message);
}

} // namespace batchscope::telemetry
