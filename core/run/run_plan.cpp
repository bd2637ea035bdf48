#include "core/run/run_plan.h"

#include <cmath>
#include <limits>

#include "core/base/saturated.h"
#include "core/schedule/shares.h"

namespace batchscope::run {

namespace {

/// Walking longer plans just to count their steps takes too long.
constexpr std::int64_t max_steps_counted = 2'000'000;
/// The same for plans with more takes (micro batches times ranks) in total.
constexpr std::size_t max_takes_counted = 20'000'000;

/// Steps of a program that does not say how long it trains.
constexpr std::int64_t longest_run = std::int64_t{1} << 40;

/// A saturated one is rejected when the plan is walked.
std::int64_t effective_batch(const schedule::ProgressionOptions& options) {
  const data::SamplerOptions& sampler = options.sampler;
  return sampler.effective_batch.value_or(
      saturated_product(saturated_product(options.batch, sampler.accumulate), sampler.ranks));
}

/// Everything but the warm-up, which may depend on the number of steps.
schedule::ProgressionOptions without_warmup(const RunSpec& spec, const data::ExampleCounts& examples,
                                            std::int64_t batch, std::int64_t ranks) {
  schedule::ProgressionOptions options;
  options.sampler = sampler_options(spec, examples, ranks);
  options.shares = spec.shares;
  options.length = spec.length;
  options.batch = batch;
  options.max_batch = spec.max_batch;
  options.schedule = spec.schedule;
  auto& rate = options.learning_rate;
  rate.base = learning_rate_or_default(spec);
  rate.rule = schedule::parse_rule(spec.lr_rule);
  rate.decay = schedule::parse_decay(spec.lr_decay);
  rate.reference_batch = spec.lr_reference_batch.value_or(effective_batch(options));
  return options;
}

/// If the plan is not known in advance, assumes that the first batch is kept.
std::int64_t automatic_warmup(const schedule::ProgressionOptions& options, std::optional<std::int64_t> steps) {
  const auto effective = static_cast<double>(effective_batch(options));
  const double scale = effective / static_cast<double>(options.learning_rate.reference_batch);
  const auto examples = static_cast<double>(options.length.examples.value_or(
      saturated_product(data::examples_in_epoch(options.sampler), options.length.epochs.value_or(1))));
  return schedule::automatic_warmup(scale, steps.value_or(std::llround(std::ceil(examples / effective))));
}

/// With AdaScale, a step counts for less than one below the reference batch, and for more above it.
bool counts_steps(schedule::LearningRateRule rule, const std::string& schedule, std::int64_t effective,
                  std::int64_t reference) {
  return rule != schedule::LearningRateRule::adascale || (schedule == "constant" && effective == reference);
}

/// Leaves the steps unset if they cannot be known; gives an estimate if there are too many to count.
void count_steps(RunPlan& plan) {
  const schedule::ProgressionOptions& options = plan.options;
  const auto& rate = options.learning_rate;
  if (counts_steps(rate.rule, options.schedule, effective_batch(options), rate.reference_batch))
    plan.steps = options.length.steps;
  schedule::Progression progression(options);
  if (plan.steps || progression.needs_feedback())
    return;
  std::size_t takes = 0;
  while (const auto step = progression.next()) {
    takes += step->takes.takes.size();
    if (step->step > max_steps_counted || takes > max_takes_counted) {
      plan.estimated_steps = schedule::estimated_steps(options, *step);
      return;
    }
    progression.done();
  }
  plan.steps = progression.steps_done();
}

} // namespace

data::SamplerOptions sampler_options(const RunSpec& spec, const data::ExampleCounts& examples, std::int64_t ranks) {
  data::SamplerOptions options{.examples = examples.total,
                               .ranks = ranks,
                               .accumulate = spec.accumulate,
                               .effective_batch = spec.effective_batch,
                               .drop_last = spec.drop_last,
                               .streams = examples.streams};
  if (examples.streams.empty())
    return options;
  std::vector<std::string> names;
  for (const data::Stream& stream : examples.streams)
    names.push_back(stream.name);
  options.clock = schedule::clock_of(spec.clock, names);
  const schedule::ShareSchedule shares(spec.shares, examples.streams, options.clock);
  options.shares = shares.after(0);
  options.largest_clock_share = shares.largest(options.clock);
  return options;
}

schedule::ProgressionOptions progression_options(const RunSpec& spec, const data::ExampleCounts& examples,
                                                 std::int64_t batch, std::int64_t ranks) {
  const auto warmup = parse_warmup(spec.warmup, "--warmup");
  if (!warmup)
    return plan_run(spec, examples, batch, ranks).options;
  schedule::ProgressionOptions options = without_warmup(spec, examples, batch, ranks);
  options.learning_rate.warmup_steps = *warmup;
  return options;
}

namespace {

/// A program knows its length, its accumulation and what it does with tails; its learning rate is 1 where it is not
/// known, so that what is planned is a factor.
schedule::ProgressionOptions of_program(RunSpec spec, const RunStart& start, const ProgramStart& program) {
  spec.accumulate = start.accumulate;
  spec.drop_last = program.drop_last;
  spec.length = program.length;
  if (spec.length == schedule::RunLength{})
    spec.length.steps = longest_run;
  spec.learning_rate = start.learning_rate.value_or(1);
  return without_warmup(spec, data::ExampleCounts(start.train_examples), start.batch, program.ranks);
}

} // namespace

schedule::ProgressionOptions progression_options(const RunSpec& spec, const RunStart& start, std::int64_t ranks) {
  if (start.program)
    return of_program(spec, start, *start.program);
  schedule::ProgressionOptions options = without_warmup(spec, example_counts(start), start.batch, ranks);
  options.learning_rate.warmup_steps = start.warmup_steps;
  return options;
}

RunPlan plan_run(const RunSpec& spec, const data::ExampleCounts& examples, std::int64_t batch, std::int64_t ranks) {
  RunPlan plan{without_warmup(spec, examples, batch, ranks), std::nullopt};
  count_steps(plan);
  const auto warmup = parse_warmup(spec.warmup, "--warmup");
  const auto steps = plan.steps ? plan.steps : spec.length.steps; // with AdaScale, those at the reference batch
  plan.options.learning_rate.warmup_steps = warmup ? *warmup : automatic_warmup(plan.options, steps);
  return plan;
}

schedule::RunLength countable_length(const RunSpec& spec, std::int64_t batch) {
  if (spec.program)
    return {};
  const std::int64_t effective = spec.effective_batch.value_or(saturated_product(batch, spec.accumulate));
  const bool counts = !spec.length.steps || counts_steps(schedule::parse_rule(spec.lr_rule), spec.schedule, effective,
                                                         spec.lr_reference_batch.value_or(effective));
  return counts ? spec.length : schedule::RunLength{};
}

} // namespace batchscope::run
