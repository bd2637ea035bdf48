#pragma once

#include <cstdint>
#include <memory>

#include "core/data/dataset.h"
#include "core/data/sampler.h"
#include "core/memory/device.h"
#include "core/run/run_spec.h"
#include "core/train/detail/learner.h"

namespace batchscope::train {

/// Optimizer steps of a run on examples that have a shape but no content, all of the greatest length: where kernels
/// compute nothing, their memory is that of real ones.
class ShapeSteps {
public:
  ShapeSteps(const run::RunSpec& spec, const data::ExampleShape& shape, std::int64_t examples);

  std::unique_ptr<Learner> make_learner(memory::Device& device) const;
  /// With this nominal batch; false if memory ran out.
  bool step(Learner& learner, std::int64_t batch) const;

private:
  run::RunSpec spec_;
  std::shared_ptr<const data::Dataset> data_;
  data::SamplerOptions sampler_;
};

} // namespace batchscope::train
