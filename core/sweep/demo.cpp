#include "core/sweep/demo.h"
#include "core/run/engine.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/job/retry_transient.h"
#include "core/search/run_search.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"

namespace batchscope::sweep {

namespace {

constexpr std::uint64_t demo_budget = 100'000'000;
constexpr std::int64_t demo_epochs = 1;
constexpr std::size_t sizes_in_sweep = 4;
constexpr std::int64_t repeats = 3; ///< fewer tell nothing apart

/// The largest size that fits and powers of two well below it; only the largest ones if there are many.
std::vector<std::int64_t> sizes_up_to(std::int64_t largest) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 1; size <= largest * 2 / 3; size *= 2)
    sizes.push_back(size);
  sizes.push_back(largest);
  if (sizes.size() > sizes_in_sweep)
    sizes.erase(sizes.begin(), sizes.end() - sizes_in_sweep);
  return sizes;
}

class Demo {
public:
  Demo(store::RunStore& store, DemoWatch& watch, const std::shared_ptr<run::JobControl>& control,
       const std::shared_ptr<data::DataPool>& pool)
      : store_(store), watch_(watch), control_(control), pool_(pool) {}

  DemoResult run() {
    find();
    if (!control_->stopping() && result_.search.found)
      sweep();
    if (!control_->stopping() && result_.search.found)
      grow();
    if (!control_->stopping() && result_.search.found)
      ask_for_too_much();
    result_.stopped = control_->stopping();
    return std::move(result_);
  }

private:
  void find() {
    const auto session = run::open_session(demo_spec(), pool_);
    data_ = session->data();
    const auto answer = search_with(*session, DemoStage::search, "predictive");
    if (!answer)
      return;
    result_.search = *answer;
    result_.search_id = job::store_search(demo_spec(), result_.search, store_, watch_, *control_);
    if (!answer->interrupted)
      search_with(*session, DemoStage::bisection, "binary");
  }

  /// Nothing if it was interrupted.
  std::optional<search::SearchResult> search_with(run::Session& session, DemoStage stage, const std::string& strategy) {
    run::Session::SearchOptions options;
    options.strategy = strategy;
    options.timings = stage == DemoStage::search;
    options.on_timing = [&](const search::Timing& timing) { watch_.timing(timing); };
    options.stop = [&] { return control_->stopping(); };
    watch_.stage(stage);
    try {
      auto result =
          session.find(options, [&](const search::Probe& probe) { watch_.probe(probe, session.budget_bytes()); });
      if (result.probes.empty())
        return std::nullopt;
      watch_.searched(stage, result);
      return result;
    } catch (const Error&) {
      if (!control_->stopping())
        throw;
      return std::nullopt;
    }
  }

  void sweep() {
    SweepSpec spec;
    spec.base = demo_spec();
    Variation sizes{.field = "batch", .values = {}, .interval = {}};
    for (const std::int64_t size : sizes_up_to(*result_.search.largest))
      sizes.values.push_back(std::to_string(size));
    spec.vary = {std::move(sizes)};
    spec.repeats = repeats;
    watch_.stage(DemoStage::sweep);
    job::retry_transient(watch_, *control_, [&] { result_.sweep_id = store_.add_sweep(to_json(spec)); });
    result_.sweep = run_sweep(plan_sweep(spec, pool_), result_.sweep_id, store_, watch_, control_);
  }

  void grow() {
    watch_.stage(DemoStage::growing);
    run::RunSpec spec = demo_spec();
    spec.name = "+1 every 5 steps";
    spec.batch = {run::BatchChoice::Kind::number, 16};
    spec.schedule = "step:interval=5,increment=1";
    train_one(spec);
  }

  void ask_for_too_much() {
    watch_.stage(DemoStage::greedy);
    const std::int64_t largest = *result_.search.largest;
    run::RunSpec spec = demo_spec();
    spec.name = "more than fits";
    spec.batch = {run::BatchChoice::Kind::number, std::max<std::int64_t>(largest / 4, 1)};
    spec.schedule = fmt::format("linear:max={}", largest * 2);
    train_one(spec);
  }

  void train_one(const run::RunSpec& spec) {
    const auto session = run::open_session(spec, pool_);
    result_.schedules.push_back(job::run_and_store(*session, spec, std::nullopt, store_, {}, watch_, control_));
  }

  store::RunStore& store_;
  DemoWatch& watch_;
  const std::shared_ptr<run::JobControl> control_;
  const std::shared_ptr<data::DataPool> pool_;
  data::DataSplit data_; ///< shared by all runs, read once
  DemoResult result_;
};

} // namespace

run::RunSpec demo_spec() {
  run::RunSpec spec;
  spec.model = "cnn";
  spec.data = "demo";
  spec.memory_budget = demo_budget;
  spec.length = {.epochs = demo_epochs, .examples = std::nullopt, .steps = std::nullopt};
  // So that large batches are not trained with a learning rate that suits small ones.
  spec.lr_rule = "sqrt";
  spec.lr_reference_batch = 32;
  return spec;
}

std::vector<std::int64_t> DemoResult::runs() const {
  std::vector<std::int64_t> ids = sweep.runs;
  for (const auto& job : schedules)
    ids.push_back(job.id);
  return ids;
}

DemoResult run_demo(store::RunStore& store, DemoWatch& watch, const std::shared_ptr<run::JobControl>& control,
                    const std::shared_ptr<data::DataPool>& pool) {
  return Demo(store, watch, control, pool).run();
}

compare::Answer answer_of(const store::RunReader& reader, const DemoResult& result) {
  std::vector<std::int64_t> runs;
  for (const store::RunRow& row : reader.present(result.sweep.runs))
    runs.push_back(row.id);
  return compare::answer(compare::Comparison(compare::read_runs(reader, runs)), {});
}

} // namespace batchscope::sweep
