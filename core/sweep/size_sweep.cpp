#include "core/sweep/size_sweep.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/compare/answer.h"
#include "core/sweep/detail/seeds.h"

namespace batchscope::sweep {

namespace {

schedule::RunLength long_enough(const compare::Goal& goal, const search::SearchResult& result,
                                const schedule::RunLength& before) {
  constexpr std::int64_t epochs_to_target = 20;
  if (goal.kind == compare::Goal::Kind::target)
    return {.epochs = epochs_to_target, .examples = std::nullopt, .steps = std::nullopt};
  if (goal.kind != compare::Goal::Kind::time)
    return before;
  double fastest = 0; // examples per second
  for (const search::Timing& timing : result.timings)
    fastest = std::max(fastest, timing.examples_per_second);
  constexpr double most = 1e15; // examples; a whole number as a double
  const double examples = std::clamp(std::ceil(2 * fastest * goal.value), 1.0, most);
  return {.epochs = std::nullopt, .examples = static_cast<std::int64_t>(examples), .steps = std::nullopt};
}

/// Makes the runs end when the goal is reached.
void set_end(run::RunSpec& spec, const compare::Goal& goal) {
  constexpr double often_enough = 10; // percent of an epoch
  if (goal.kind == compare::Goal::Kind::time)
    spec.max_seconds = goal.value;
  if (goal.kind != compare::Goal::Kind::target || spec.program)
    return;
  spec.target_score = goal.value;
  if (!spec.evaluate_every)
    spec.evaluate_every = run::EvaluationInterval{.percent = often_enough};
}

} // namespace

std::vector<std::int64_t> sizes_to_train(const search::SearchResult& result) {
  constexpr std::size_t smaller = 4; // besides the safe size
  constexpr std::int64_t least = 8;
  if (!result.largest)
    return {};
  const std::int64_t top = result.safe.value_or(*result.largest);
  std::vector<std::int64_t> powers; // below the top, not so close to it that training hardly differs
  for (std::int64_t size = top < 2 * least ? 1 : least; 3 * size <= 2 * top; size *= 2)
    powers.push_back(size);
  const std::size_t stride = std::max<std::size_t>(powers.size() / smaller, 1);
  std::set<std::int64_t> sizes{top, *result.largest, result.recommended.value_or(top)};
  for (std::size_t back = 0; back < powers.size() && back < smaller * stride; back += stride)
    sizes.insert(powers[powers.size() - 1 - back]);
  return {sizes.begin(), sizes.end()};
}

SweepSpec size_sweep(const run::RunSpec& spec, const search::SearchResult& result, std::int64_t search,
                     const std::string& goal, bool keep_length) {
  const compare::Goal wanted = compare::parse_goal(goal, "--goal");
  const auto sizes = sizes_to_train(result);
  if (sizes.empty())
    throw input_error("--goal: the search found no size that could be trained");
  SweepSpec sweep;
  sweep.base = spec;
  sweep.repeats = detail::takes_seed(spec) ? 3 : 1;
  sweep.goal = goal;
  sweep.search = search;
  Variation batches{.field = "batch", .values = {}, .interval = {}};
  for (const std::int64_t size : sizes)
    batches.values.push_back(std::to_string(size));
  set_variation(sweep, std::move(batches));
  if (!spec.memory_budget)
    sweep.base.memory_budget = result.budget_bytes; // what was found holds for this one
  if (spec.lr_rule != "none" && !spec.lr_reference_batch)
    sweep.base.lr_reference_batch = spec.effective_batch.value_or(sizes.front() * spec.accumulate);
  if (!keep_length && !spec.program) // a program ends by itself
    sweep.base.length = long_enough(wanted, result, spec.length);
  set_end(sweep.base, wanted);
  return sweep;
}

} // namespace batchscope::sweep
