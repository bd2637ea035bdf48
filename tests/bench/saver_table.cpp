#include "saver_table.h"

#include <algorithm>
#include <functional>
#include <limits>

#include "core/data/dataset.h"
#include "core/memory/device.h"
#include "core/run/model_spec.h"
#include "core/train/detail/dry_run.h"
#include "core/train/detail/trials.h"

namespace batchscope::bench {

namespace {

constexpr int stretches = 3;

SaverRow measure(const run::RunSpec& spec, const data::DataSplit& split, std::int64_t batch) {
  const auto device = memory::open_device("cpu", 16'000'000'000);
  train::Learner learner(spec, split, *device);
  train::LearnerTrials trials(
      learner, {.sampler = {.examples = split.train->size(), .ranks = 1, .accumulate = 1}, .learning_rate = 0.001});
  const auto dry_run = train::make_dry_run(spec, data::longest_shape(*split.train), split.train->size());
  SaverRow row;
  row.real_bytes = static_cast<double>(*trials.run({batch, true, {}}).peak_bytes);
  row.dry_bytes = static_cast<double>(dry_run->trace(batch).peak_bytes);
  row.milliseconds = std::numeric_limits<double>::infinity();
  for (int i = 0; i < stretches; ++i)
    row.milliseconds = std::min(row.milliseconds, 1e3 * trials.time(batch)->step_seconds);
  return row;
}

} // namespace

std::vector<SaverRow> measure_savers(const std::string& model, const std::string& data, std::int64_t batch) {
  const data::DataSplit split = data::open_data(data, {.context = run::parse_model(model).context()});
  const std::vector<std::pair<std::string, std::function<void(run::RunSpec&)>>> settings{
      {"plain", [](run::RunSpec&) {}},
      {"checkpointing", [](run::RunSpec& spec) { spec.checkpointing = true; }},
      {"bf16", [](run::RunSpec& spec) { spec.precision = "bf16"; }},
      {"bf16, checkpointing",
       [](run::RunSpec& spec) {
         spec.precision = "bf16";
         spec.checkpointing = true;
       }},
      {"dropout", [](run::RunSpec& spec) { spec.dropout = 0.1; }},
      {"dropout, checkpointing",
       [](run::RunSpec& spec) {
         spec.dropout = 0.1;
         spec.checkpointing = true;
       }},
      {"averaged weights", [](run::RunSpec& spec) { spec.ema = 0.999; }},
      {"rmsprop", [](run::RunSpec& spec) { spec.optimizer = "rmsprop"; }},
  };
  std::vector<SaverRow> rows;
  for (const auto& [name, set] : settings) {
    run::RunSpec spec;
    spec.model = model;
    set(spec);
    rows.push_back(measure(spec, split, batch));
    rows.back().setting = name;
  }
  return rows;
}

} // namespace batchscope::bench
