#pragma once

#include <QString>

#include <array>
#include <cstdint>
#include <optional>

#include "core/telemetry/record.h"
#include "core/telemetry/trace.h"

namespace batchscope::ui {

/// The fields of an `oom` event.
struct OomDetails {
  /// The outcome: the same examples ran again in smaller micro batches; the evaluation's batch was reduced; the run
  /// ended.
  enum class End { run_in_parts, evaluation_shrunk, run_failed };

  std::int64_t step = 0;      ///< step of the event
  std::int64_t attempted = 0; ///< examples of the micro batch that did not fit
  std::uint64_t requested_bytes = 0;
  std::uint64_t in_use_bytes = 0;
  std::uint64_t limit_bytes = 0;
  std::optional<std::array<std::uint64_t, telemetry::use_count>> in_use_by; ///< indexed by telemetry::Use, if known
  QString phase;
  QString cause;
  QString action;
  End end = End::run_failed;
  std::int64_t parts_before = 1;
  std::int64_t parts_after = 1;
  std::int64_t size_after = 0; ///< examples of the largest micro batch
  std::int64_t examples_again = 0;

  /// Missing bytes; 0 if the limit alone does not explain the error (a fragmented device).
  std::uint64_t short_by() const;
};

/// Nothing for other kinds of event.
std::optional<OomDetails> oom_details(const telemetry::Event& event);

} // namespace batchscope::ui
