#include "app/cli/estimate_dry_run.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/cli/estimate_answer.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/host.h"
#include "core/base/text.h"
#include "core/run/engine.h"

namespace batchscope::cli {

namespace {

/// As many as the largest batch that is asked about; made-up data take no memory.
constexpr std::int64_t most_examples = 10'000'000;

class NoSink final : public telemetry::Sink {
public:
  void record(const telemetry::StepRecord& /*record*/) override {}
  void event(telemetry::Event /*event*/) override {}
};

} // namespace

run::RunSpec Subject::with_examples(std::int64_t count) const {
  run::RunSpec made = spec;
  if (!made_up.empty())
    made.data = fmt::format("{},examples={}", made_up, count);
  return made;
}

DryAnswer dry_run(const Subject& subject, std::optional<estimate::DryRuns>& dry_runs, std::optional<std::int64_t> batch,
                  data::DataPool& pool) {
  run::RunSpec spec = subject.with_examples(most_examples);
  if (batch)
    spec.batch = {.kind = run::BatchChoice::Kind::number, .number = *batch};
  std::optional<estimate::CardFit> fit;
  if (dry_runs)
    fit = estimate::fit_into(spec, *dry_runs, pool);
  DryAnswer answer{.spec = spec,
                   .prediction = fit ? fit->prediction : run::predict_memory(spec, pool),
                   .fit = fit,
                   .batch = 1,
                   .json = {}};
  if (batch && *batch > answer.prediction.max_batch)
    throw input_error(
        fmt::format("--batch: {} is not accepted; accepted: 1 to {}", *batch, answer.prediction.max_batch));
  answer.batch = batch.value_or(answer.fit ? answer.fit->prediction.largest.value_or(1) : std::int64_t{1});
  answer.json = json_of(answer.prediction, answer.batch,
                        answer.fit ? std::optional(answer.fit->prediction.largest.value_or(0)) : std::nullopt);
  if (answer.fit && !answer.fit->not_on_card.empty())
    answer.json["not_on_card"] = answer.fit->not_on_card;
  if (answer.fit && answer.fit->steps) {
    answer.json["reserved_bytes"] = answer.fit->steps->reserved_bytes; // for max_batch, or one example if that is 0
    answer.json["fragmentation"] = json_number(five_decimals(answer.fit->steps->fragmentation()));
  }
  return answer;
}

std::uint64_t measure(const Subject& subject, const DryAnswer& dry) {
  const std::uint64_t needed = dry.prediction.at(dry.batch).bytes, free = free_host_memory();
  if (needed > free / 10 * 9)
    throw Error(Error::Kind::unavailable, fmt::format("--verify: two steps take {}, and {} are free here; without it, "
                                                      "the answer is computed",
                                                      format_bytes(needed), format_bytes(free)));
  constexpr std::int64_t steps = 2; // the first creates the optimizer's state
  run::RunSpec spec = subject.with_examples(std::max<std::int64_t>(dry.batch * dry.spec.accumulate * steps, 2));
  spec.batch = {.kind = run::BatchChoice::Kind::number, .number = dry.batch};
  spec.length = {.epochs = {}, .examples = {}, .steps = steps};
  spec.on_oom = run::OnOom::fail;
  const auto session = run::open_session(spec);
  NoSink sink;
  run::RunControl control;
  const telemetry::RunOutcome outcome = session->run(sink, control);
  if (outcome.peak_bytes == 0)
    throw Error(Error::Kind::failed, "--verify: the two steps failed: " + outcome.reason);
  return outcome.peak_bytes;
}

} // namespace batchscope::cli
