#pragma once

#include <QString>

#include <array>
#include <cstdint>
#include <optional>

#include "core/predict/trace.h"
#include "core/telemetry/record.h"

// Events of a run in plain words. What an event does not say, or says in a form that is not known, is left out.
namespace batchscope::ui {

/// What an `oom` event says.
struct OomDetails {
  /// How it ended: the same examples ran again in smaller parts; only the evaluation's batch became smaller; the run
  /// ended.
  enum class End { run_in_parts, evaluation_shrunk, run_failed };

  std::int64_t step = 0;      ///< steps done when it happened
  std::int64_t attempted = 0; ///< examples of the micro batch that did not fit
  std::uint64_t requested_bytes = 0;
  std::uint64_t in_use_bytes = 0;
  std::uint64_t limit_bytes = 0;
  std::optional<std::array<std::uint64_t, predict::use_count>> in_use_by; ///< indexed by predict::Use, where known
  QString phase;
  QString cause;
  QString action;
  End end = End::run_failed;
  std::int64_t parts_before = 1;
  std::int64_t parts_after = 1;
  std::int64_t size_after = 0; ///< examples of the largest part
  std::int64_t examples_again = 0;

  /// What more would have been needed; 0 where the limit alone does not explain it (a fragmented device).
  std::uint64_t short_by() const;
};

/// Nothing for another kind of event.
std::optional<OomDetails> oom_details(const telemetry::Event& event);

/// An event's cells in the table.
struct EventText {
  QString what;
  QString tried;
  QString now;
  QString asked;
  QString in_use;
  QString action;
  bool alarming = false; ///< out of memory, or something that went wrong
};

EventText event_text(const telemetry::Event& event);

/// What an evaluation came to, of a run that goes on or is read; NaN for other events.
double validation_loss(const telemetry::Event& event);

/// Which events are shown.
enum class EventGroup { all, out_of_memory, edits, evaluations };
EventGroup group_of(const telemetry::Event& event); ///< never `all` but for what is in no other

} // namespace batchscope::ui
