#pragma once

#include <memory>

#include "core/model/detail/layers.h"
#include "core/model/detail/model.h"

namespace batchscope::model {

struct NetworkOptions {
  run::ModelSpec spec;
  data::ExampleShape shape;
  double dropout = 0;
  at::Generator generator;
  c10::Device device;
};

/// Width of the last layer: number of classes, 1 for a number, or the vocabulary size.
std::int64_t outputs_for(const data::ExampleShape& shape);

#define MODEL(name, ...) std::unique_ptr<Model> make_##name(const NetworkOptions& options);
#include "core/run/models.def"
#undef MODEL

} // namespace batchscope::model
