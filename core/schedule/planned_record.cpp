#include "core/schedule/planned_record.h"

#include <limits>

namespace batchscope::schedule {

telemetry::StepRecord planned_record(const PlannedStep& step) {
  telemetry::StepRecord record;
  record.step = step.step;
  record.examples_seen = step.takes.seen_in_total;
  record.epoch_index = step.takes.epoch_index;
  record.epoch = step.epoch;
  record.train_coverage = step.train_coverage;
  record.batch = step.batch;
  record.accumulate = step.takes.accumulate;
  record.effective_batch = step.takes.examples;
  record.loss = std::numeric_limits<double>::quiet_NaN();
  record.learning_rate = step.learning_rate;
  record.grad_norm = std::numeric_limits<double>::quiet_NaN();
  return record;
}

} // namespace batchscope::schedule
