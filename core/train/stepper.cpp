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

/// One part if there is a single example.
std::vector<MicroBatch> halves(MicroBatch whole) {
  const std::size_t half = whole.size() / 2;
  if (half == 0)
    return {whole};
  return {whole.first(half), whole.subspan(half)};
}

/// The larger of the two probes; the other is half of it. Kernels behave alike from 8 on.
constexpr std::int64_t largest_probe = 16;

/// Bytes that the device provides: the budget, or less if the machine itself had no more.
std::uint64_t bytes_to_be_had(const memory::OutOfMemoryInfo& info, std::uint64_t budget) {
  return info.requested == 0 ? budget : std::min(budget, info.in_use + info.requested - 1);
}

std::string failure_text(const OutOfMemory& event) {
  const std::string asked = "tried to allocate " + format_bytes(event.info.requested) + " with " +
                            format_bytes(event.info.in_use) + " in use, budget " + format_bytes(event.info.limit);
  if (event.attempted <= 1)
    return "out of memory: even one example does not fit (" + asked +
           "); raise the memory budget or choose a smaller model";
  return "out of memory with a micro batch of " + format_count(event.attempted) + ": " + asked +
         "; the run was stopped because of --on-oom fail";
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

StepOutcome Stepper::run(const std::vector<MicroBatch>& nominal, bool measure_noise) {
  StepOutcome outcome;
  std::int64_t examples = 0;
  for (const MicroBatch& micro : nominal)
    examples += static_cast<std::int64_t>(micro.size());
  if (!known_.empty() && shortage_.over(learner_.device()))
    known_.forget();
  std::vector<MicroBatch> window = split(nominal);
  while (true) {
    if (measure_noise && may_halve_ && window.size() == 1)
      window = halves(window.front());
    const Attempt attempt = learner_.attempt(window, measure_noise);
    const auto failed_count = static_cast<std::int64_t>(attempt.failed.size());
    if (!attempt.out_of_memory) {
      outcome.ready = true;
      outcome.loss = attempt.loss;
      outcome.grad_norm = attempt.grad_norm;
      outcome.tokens = attempt.tokens;
      outcome.norms = attempt.norms;
      outcome.largest_micro = largest(window);
      for (const MicroBatch& micro : window)
        outcome.longest = std::max(outcome.longest, learner_.train_data().layout(micro).length);
      known_.fitted(outcome.largest_micro, outcome.longest);
      outcome.micro_batches = static_cast<std::int64_t>(window.size());
      return outcome;
    }
    OutOfMemory event{failed_count,
                      attempt.failed_length,
                      attempt.info,
                      largest(nominal),
                      static_cast<std::int64_t>(window.size()),
                      static_cast<std::int64_t>(window.size()),
                      largest(window),
                      examples,
                      largest(window),
                      static_cast<std::int64_t>(nominal.size())};
    known_.out_of_memory(failed_count, attempt.failed_length);
    const bool hopeless = on_oom_ == run::OnOom::fail || failed_count <= 1;
    if (!hopeless) {
      if (outcome.out_of_memory.empty())
        predict_parts(attempt);
      window = split(nominal);
      event.parts_after = static_cast<std::int64_t>(window.size());
      event.largest_after = largest(window);
    }
    shortage_.begin(attempt.info, learner_.device());
    outcome.out_of_memory.push_back(event);
    if (hopeless) {
      outcome.failure = failure_text(event);
      return outcome;
    }
  }
}

/// Passes the predicted sizes to known_; without a prediction, known_ halves the failed size.
void Stepper::predict_parts(const Attempt& failed) {
  const auto model = probe(failed.failed);
  if (!model)
    return;
  const std::uint64_t bytes = bytes_to_be_had(failed.info, learner_.device().readings().limit);
  const auto below = static_cast<std::int64_t>(failed.failed.size()) - 1;
  known_.predicted(model->largest_within(bytes, 1, below), model->largest_onto_gradients_within(bytes, 1, below),
                   failed.failed_length);
}

/// Probes two small parts of the failed micro batch, each with its longest example.
std::optional<predict::MemoryModel> Stepper::probe(MicroBatch failed) {
  const data::Dataset& data = learner_.train_data();
  std::vector<std::int64_t> examples(failed.begin(), failed.end());
  const auto length = [&](const std::int64_t& index) { return data.layout(MicroBatch(&index, 1)).length; };
  std::iter_swap(examples.begin(), std::max_element(examples.begin(), examples.end(),
                                                    [&](auto& a, auto& b) { return length(a) < length(b); }));
  std::optional<telemetry::Trace> large;
  auto size = std::min(largest_probe, static_cast<std::int64_t>(examples.size()) / 2);
  for (; size >= 1; size /= 2) {
    auto trace = learner_.trace(MicroBatch(examples).first(static_cast<std::size_t>(size)));
    if (!trace)
      continue;
    if (!large) {
      large = std::move(trace);
      continue;
    }
    predict::MemoryModel model(*trace, *large);
    return model.usable() ? std::optional(std::move(model)) : std::nullopt;
  }
  return std::nullopt;
}

} // namespace batchscope::train
