#include "core/train/detail/stepper.h"

#include <algorithm>

#include "core/base/text.h"

namespace batchscope::train {

namespace {

std::int64_t largest(const std::vector<MicroBatch>& window) {
  std::size_t most = 0;
  for (const MicroBatch& micro : window)
    most = std::max(most, micro.size());
  return static_cast<std::int64_t>(most);
}

std::string failure_text(const OutOfMemory& event) {
  return "out of memory with a micro batch of " + format_count(event.attempted) + ": asked for " +
         format_bytes(event.refusal.requested) + " with " + format_bytes(event.refusal.in_use) + " in use, limit " +
         format_bytes(event.refusal.limit);
}

} // namespace

std::vector<MicroBatch> Stepper::split(const std::vector<MicroBatch>& nominal) const {
  std::vector<MicroBatch> window;
  for (const MicroBatch& micro : nominal) {
    const auto count = static_cast<std::int64_t>(micro.size());
    const std::int64_t parts = known_.parts(count, learner_.train_data().layout(micro).length);
    std::int64_t from = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t to = count * (part + 1) / parts;
      window.push_back(micro.subspan(from, to - from));
      from = to;
    }
  }
  return window;
}

StepOutcome Stepper::run(const std::vector<MicroBatch>& nominal) {
  StepOutcome outcome;
  std::int64_t examples = 0;
  for (const MicroBatch& micro : nominal)
    examples += static_cast<std::int64_t>(micro.size());
  std::vector<MicroBatch> window = split(nominal);
  while (true) {
    const Attempt attempt = learner_.attempt(window);
    if (!attempt.out_of_memory) {
      outcome.ready = true;
      outcome.loss = attempt.loss;
      outcome.grad_norm = attempt.grad_norm;
      outcome.tokens = attempt.tokens;
      outcome.largest_micro = largest(window);
      for (const MicroBatch& micro : window)
        outcome.longest = std::max(outcome.longest, learner_.train_data().layout(micro).length);
      outcome.micro_batches = static_cast<std::int64_t>(window.size());
      return outcome;
    }
    OutOfMemory event{attempt.failed_count,
                      attempt.failed_length,
                      attempt.refusal,
                      largest(nominal),
                      static_cast<std::int64_t>(window.size()),
                      static_cast<std::int64_t>(window.size()),
                      largest(window),
                      examples,
                      largest(window),
                      static_cast<std::int64_t>(nominal.size())};
    known_.out_of_memory(attempt.failed_count, attempt.failed_length);
    const bool hopeless = on_oom_ == OnOom::fail || attempt.failed_count <= 1;
    if (!hopeless) {
      window = split(nominal);
      event.parts_after = static_cast<std::int64_t>(window.size());
      event.largest_after = largest(window);
    }
    outcome.out_of_memory.push_back(event);
    if (hopeless) {
      outcome.failure = failure_text(event);
      return outcome;
    }
  }
}

} // namespace batchscope::train
