#include "memory_table.h"

#include <chrono>
#include <memory>

#include "../core/model/script_file.h"
#include "core/data/dataset.h"
#include "core/estimate/formula.h"
#include "core/memory/device.h"
#include "core/run/model_spec.h"
#include "core/train/detail/dry_run.h"
#include "core/train/detail/trials.h"

namespace batchscope::bench {

namespace {

using Clock = std::chrono::steady_clock;

void add_formulas(MemoryRow& row, const run::ModelSpec& model, const data::ExampleShape& shape, double parameters) {
  if (model.name != "gpt")
    return;
  const estimate::Transformer transformer{.family = {},
                                          .parameters = parameters,
                                          .layers = model.size("layers"),
                                          .width = model.size("width"),
                                          .heads = model.size("heads"),
                                          .vocabulary = shape.vocabulary,
                                          .positions = model.context()};
  const estimate::Training training{.batch = static_cast<double>(row.batch),
                                    .sequence = static_cast<double>(model.context())};
  row.formula_bytes = estimate::by_formula(transformer, training).total();
  row.rule_of_thumb_bytes = estimate::rule_of_thumb(transformer, training).total();
}

} // namespace

std::vector<MemoryRow> measure_memory(const std::string& model, const std::string& data,
                                      const std::vector<std::int64_t>& batches) {
  run::RunSpec spec;
  spec.model = model;
  const run::ModelSpec parsed = run::parse_model(model);
  const data::DataSplit split = data::open_data(data, {.context = parsed.context()});
  const auto device = memory::open_device("cpu", 16'000'000'000);
  train::Learner learner(spec, split, *device);
  train::LearnerTrials trials(
      learner, {.sampler = {.examples = split.train->size(), .ranks = 1, .accumulate = 1}, .learning_rate = 0.001});
  const data::ExampleShape shape = data::longest_shape(*split.train);
  const auto dry_run = train::make_dry_run(spec, shape, split.train->size());
  std::vector<MemoryRow> rows;
  for (const std::int64_t batch : batches) {
    MemoryRow& row = rows.emplace_back();
    row.batch = batch;
    const auto begin = Clock::now();
    row.dry_bytes = static_cast<double>(dry_run->trace(batch).peak_bytes);
    row.dry_milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
    row.real_bytes = static_cast<double>(*trials.run({batch, true, {}}).peak_bytes);
    add_formulas(row, parsed, shape, static_cast<double>(dry_run->parameter_count()));
  }
  return rows;
}

std::string cnn_as_script(const std::filesystem::path& folder) {
  const data::ExampleShape shape{.input = data::ExampleShape::Input::image, .dimensions = {1, 16, 16}, .classes = 10};
  const auto network = model::make_model(run::parse_model("cnn:width=8"), shape, 0, 1, at::kCPU);
  const std::string file = folder / "cnn.pt";
  test::save_script(file, test::cnn_source, network->state());
  return "torchscript:" + file;
}

} // namespace batchscope::bench
