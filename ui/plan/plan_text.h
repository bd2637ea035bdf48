#pragma once

#include <QString>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/schedule/edited.h"
#include "core/schedule/plan.h"

namespace batchscope::ui {

using Segments = std::vector<schedule::PlanSegment>;

std::int64_t last_step(const schedule::PlanSegment& segment);
/// The parts of segments from a step on.
Segments clipped(const Segments& segments, std::int64_t from);
/// Whether a schedule also sets the learning rate, which a piecewise one cannot express.
bool has_rates(const schedule::EditedText& text);

/// A plan as text. The batch is the first one of a draft; for a run it is that of the very next step, unless the
/// schedule determines it.
struct PlanText {
  QString schedule;
  std::optional<std::int64_t> batch;
  /// If not empty, text and batch are computed from the stretches that remain when it is applied, since the run goes
  /// on meanwhile.
  Segments stretches;
  /// If set, the batch is the one that this plan has for that step.
  std::shared_ptr<const schedule::Plan> sizes;

  /// The text as it is applied before this step.
  PlanText from(std::int64_t step) const;
};

} // namespace batchscope::ui
