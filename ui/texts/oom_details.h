#pragma once

#include <QString>

#include <array>
#include <cstdint>
#include <optional>

#include "core/telemetry/record.h"
#include "core/telemetry/trace.h"

namespace batchscope::ui {

/// What an `oom` event says.
struct OomDetails {
  /// How it ended: the same examples ran again in smaller parts; only the evaluation's batch became smaller; the run
  /// ended.
  enum class End { run_in_parts, evaluation_shrunk, run_failed };

  std::int64_t step = 0;      ///< that it belongs to
  std::int64_t attempted = 0; ///< examples of the micro batch that did not fit
  std::uint64_t requested_bytes = 0;
  std::uint64_t in_use_bytes = 0;
  std::uint64_t limit_bytes = 0;
  std::optional<std::array<std::uint64_t, telemetry::use_count>> in_use_by; ///< indexed by telemetry::Use, where known
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

} // namespace batchscope::ui
