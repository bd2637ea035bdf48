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

void GrowBack::attempt_ended(bool fitted) {
  constexpr std::int64_t longest_wait = std::int64_t{1} << 40;
  wait_ = fitted ? *steps_ : std::min(2 * wait_, longest_wait);
  quiet_ = 0;
}

/// `growing_back`: into one part less than is known to be needed.
std::vector<MicroBatch> Stepper::split(const std::vector<MicroBatch>& nominal, bool growing_back) const {
  std::vector<MicroBatch> window;
  for (const MicroBatch& micro : nominal) {
    const auto count = static_cast<std::int64_t>(micro.size());
    std::int64_t parts = known_.parts(count, learner_.train_data().layout(micro).length);
    if (growing_back && parts > 1)
      --parts;
    std::int64_t from = 0;
    for (std::int64_t part = 0; part < parts; ++part) {
      const std::int64_t to = count * (part + 1) / parts;
      window.push_back(micro.subspan(from, to - from));
      from = to;
    }
  }
  return window;
}

StepOutcome Stepper::succeeded(const Attempt& attempt, const std::vector<MicroBatch>& window) {
  StepOutcome outcome;
  outcome.ready = true;
  outcome.tokens = attempt.tokens;
  outcome.largest_micro = largest(window);
  for (const MicroBatch& micro : window)
    outcome.longest = std::max(outcome.longest, learner_.train_data().layout(micro).length);
  outcome.micro_batches = static_cast<std::int64_t>(window.size());
  known_.fitted(outcome.largest_micro, outcome.longest, window.size() == 1);
  return outcome;
}

StepOutcome Stepper::run(const std::vector<MicroBatch>& nominal, bool measure_noise) {
  std::vector<OutOfMemory> errors;
  std::int64_t examples = 0;
  for (const MicroBatch& micro : nominal)
    examples += static_cast<std::int64_t>(micro.size());
  if (!known_.empty() && shortage_.over(learner_.device()))
    known_.forget();
  std::vector<MicroBatch> window = split(nominal, grow_back_.due());
  bool growing_back = grow_back_.due() && window.size() < split(nominal).size();
  while (true) {
    if (measure_noise && may_halve_ && window.size() == 1)
      window = halves(window.front());
    const Attempt attempt = learner_.attempt(window, measure_noise);
    if (growing_back)
      grow_back_.attempt_ended(!attempt.out_of_memory);
    if (!attempt.out_of_memory) {
      StepOutcome outcome = succeeded(attempt, window);
      if (errors.empty())
        grow_back_.step_fitted();
      outcome.out_of_memory = std::move(errors);
      return outcome;
    }
    grow_back_.ran_out_of_memory();
    const auto failed_count = static_cast<std::int64_t>(attempt.failed.size());
    OutOfMemory event{failed_count,
                      attempt.failed_length,
                      attempt.info,
                      largest(nominal),
                      static_cast<std::int64_t>(window.size()),
                      static_cast<std::int64_t>(window.size()),
                      largest(window),
                      examples,
                      largest(window),
                      static_cast<std::int64_t>(nominal.size()),
                      growing_back};
    known_.out_of_memory(failed_count, attempt.failed_length);
    const bool hopeless = on_oom_ == run::OnOom::fail || (failed_count <= 1 && !growing_back);
    if (!hopeless) {
      if (errors.empty() && !growing_back)
        predict_parts(attempt);
      window = split(nominal);
      event.parts_after = static_cast<std::int64_t>(window.size());
      event.largest_after = largest(window);
    }
    growing_back = false;
    shortage_.begin(attempt.info, learner_.device());
    errors.push_back(event);
    if (hopeless) {
      StepOutcome outcome;
      outcome.failure = failure_text(event);
      outcome.out_of_memory = std::move(errors);
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
