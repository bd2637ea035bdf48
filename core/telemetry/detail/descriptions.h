#pragma once

#include "core/telemetry/describe.h"

// Descriptions of each kind of event. `message` and `with` build messages; arguments that are not known are left out.
namespace batchscope::telemetry {

Description description_of(const ValuesOnly& event);
Description description_of(const UnknownEvent& event);
Description description_of(const Evaluation& event);
Description description_of(const OutOfMemory& event);
Description description_of(const ScheduleEdit& event);
Description description_of(const SharesEdit& event);
Description description_of(const BudgetChange& event);
Description description_of(const Clamp& event);
Description description_of(const ScheduleProblem& event);
Description description_of(const StatusChange& event);
Description description_of(const CheckpointWritten& event);
Description description_of(const WeightsWritten& event);
Description description_of(const Resumed& event);
Description description_of(const ProgramConnected& event);
Description description_of(const ProgramLevel& event);
Description description_of(const Watched& event);
Description description_of(const ProgramExit& event);
Description description_of(const ProgramOutput& event);
Description description_of(const ProgramBye& event);
Description description_of(const ProtocolFault& event);
Description description_of(const SecondProgram& event);
Description description_of(const Silent& event);
Description description_of(const NotFollowed& event);
Description description_of(const TimeOver& event);
Description description_of(const NoBye& event);
Description description_of(const LeftBehind& event);
Description description_of(const Unread& event);
Description description_of(const Late& event);
Description description_of(const Lost& event);
Description description_of(const Lint& event);
Description description_of(const Retry& event);
Description description_of(const LossScale& event);
Description description_of(const RateBySteps& event);
Description description_of(const SchedulerFollows& event);
Description description_of(const Differs& event);
Description description_of(const SplitLoss& event);
Description description_of(const GrowingMemory& event);
Description description_of(const BudgetNotKept& event);
Description description_of(const ProbeResult& event);

/// A message that is put together argument by argument; those without a value are left out.
class MessageOf {
public:
  explicit MessageOf(Words words) : message_{words} {}

  MessageOf& add(const char* name, Argument argument) {
    message_.arguments.emplace_back(name, std::move(argument));
    return *this;
  }
  MessageOf& count(const char* name, const std::optional<std::int64_t>& value) {
    return value ? add(name, Count{*value}) : *this;
  }
  MessageOf& plain(const char* name, const std::optional<std::int64_t>& value) {
    return value ? add(name, Plain{*value}) : *this;
  }
  MessageOf& bytes(const char* name, const std::optional<std::uint64_t>& value) {
    return value ? add(name, Bytes{*value}) : *this;
  }
  MessageOf& seconds(const char* name, const std::optional<double>& value) {
    return value ? add(name, Seconds{*value}) : *this;
  }
  MessageOf& number(const char* name, const std::optional<double>& value) {
    return value ? add(name, Number{*value}) : *this;
  }
  MessageOf& text(const char* name, const std::string& value) { return value.empty() ? *this : add(name, Text{value}); }
  MessageOf& reason(const char* name, const Reason& value) {
    return value.empty() ? *this : words(name, message_of(value));
  }
  MessageOf& words(const char* name, Message value) { return add(name, std::vector<Message>{std::move(value)}); }
  MessageOf& list(const char* name, std::vector<Message> values) {
    return values.empty() ? *this : add(name, std::move(values));
  }

  operator Message() const { return message_; } // NOLINT: it is one

private:
  Message message_;
};

inline Message verbatim(const std::string& text) {
  return {Words::verbatim, {{"text", Text{text}}}};
}

} // namespace batchscope::telemetry
