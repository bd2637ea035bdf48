#include "core/train/detail/shape_steps.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/run/run_plan.h"
#include "core/train/detail/trials.h"

namespace batchscope::train {

namespace {

class ShapeOnly final : public data::Dataset {
public:
  ShapeOnly(data::ExampleShape shape, std::int64_t examples) : shape_(std::move(shape)), examples_(examples) {}
  std::int64_t size() const override { return examples_; }
  const data::ExampleShape& shape() const override { return shape_; }
  data::BatchLayout layout(std::span<const std::int64_t> indices) const override {
    const auto count = static_cast<std::int64_t>(indices.size());
    const std::int64_t length =
        shape_.input == data::ExampleShape::Input::tokens ? shape_.dimensions.front() : std::int64_t{1};
    return {count, length, count * length};
  }
  // Memory that nobody writes to takes none.
  void fill_inputs(std::span<const std::int64_t> /*indices*/, float* /*inputs*/) const override {}
  void fill_training_inputs(std::span<const std::int64_t> /*indices*/, const data::AugmentationDraw& /*draw*/,
                            float* /*inputs*/) const override {}
  void fill_tokens(std::span<const std::int64_t> /*indices*/, std::int64_t /*length*/,
                   std::int64_t* /*tokens*/) const override {}
  void fill_labels(std::span<const std::int64_t> /*indices*/, std::int64_t /*length*/,
                   std::int64_t* /*labels*/) const override {}
  void fill_numbers(std::span<const std::int64_t> /*indices*/, float* /*numbers*/) const override {}

private:
  data::ExampleShape shape_;
  std::int64_t examples_;
};

} // namespace

ShapeSteps::ShapeSteps(const run::RunSpec& spec, const data::ExampleShape& shape, std::int64_t examples)
    : spec_(spec),
      data_(std::make_shared<ShapeOnly>(shape, examples)), sampler_{.examples = examples,
                                                                    .ranks = 1,
                                                                    .accumulate = spec.accumulate,
                                                                    .effective_batch = spec.effective_batch,
                                                                    .drop_last = spec.drop_last} {}

std::unique_ptr<Learner> ShapeSteps::make_learner(memory::Device& device) const {
  return std::make_unique<Learner>(spec_, data::DataSplit{.train = data_, .validation = nullptr}, device,
                                   Learner::Weights::without_values);
}

bool ShapeSteps::step(Learner& learner, std::int64_t batch) const {
  const data::StepTakes takes = data::Sampler(probe_options(sampler_, batch)).next(batch);
  const std::vector<std::int64_t> indices(
      static_cast<std::size_t>(*std::max_element(takes.takes.begin(), takes.takes.end())));
  std::vector<MicroBatch> window;
  for (const std::int64_t count : takes.takes) {
    if (count > 0)
      window.push_back(MicroBatch(indices).first(static_cast<std::size_t>(count)));
  }
  if (learner.attempt(window).out_of_memory)
    return false;
  learner.update(run::learning_rate_or_default(spec_), run::weight_decay_or_default(spec_), spec_.clip);
  return true;
}

} // namespace batchscope::train
