#pragma once

#include <string>

#include "core/compare/statistics.h"
#include "core/telemetry/outcome_fields.h"

namespace batchscope::compare {

/// A mean and half of its 95 % interval as texts, in one unit and with the digits that the interval leaves: its first
/// one, two if that is a 1 or 2. Beyond five digits of the mean nothing is written.
struct MeanText {
  std::string mean; ///< `96.30 %`
  std::string half; ///< `0.07`; empty for fewer than two values, and if it has none of the digits

  /// `96.30 % ± 0.07`
  std::string whole() const;
};
/// A number with its unit: `96.30 %`, `3.3 MB`, `8,000`, `0.1325`.
std::string value_text(telemetry::ValueKind kind, double value);
/// `summary.n` is at least 1.
MeanText mean_text(telemetry::ValueKind kind, const Summary& summary);

} // namespace batchscope::compare
