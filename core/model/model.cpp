#include "core/model/detail/model.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/dropout.h>

#include "core/base/error.h"
#include "core/model/detail/networks.h"

namespace batchscope::model {

at::Tensor Model::add(std::vector<at::Tensor>& list, const std::string& name, at::Tensor tensor) {
  list.push_back(tensor);
  if (!name.empty())
    state_.emplace_back(name, tensor);
  return tensor;
}

LayerContext Model::layer_context(at::Generator generator, c10::Device device) {
  return {[this](const std::string& name, at::Tensor tensor) {
            return add(parameters_, name, tensor.set_requires_grad(true));
          },
          [this](const std::string& name, at::Tensor tensor) { return add(buffers_, name, std::move(tensor)); },
          std::move(generator), device, &batch_norm_momentum_};
}

at::Tensor Model::drop(const at::Tensor& x, bool training) const {
  return training && dropout_ > 0 ? at::dropout(x, dropout_, true) : x;
}

at::Tensor Model::segment(const at::Tensor& x, bool training, const Segment& run) const {
  return training && checkpointing_ ? checkpointed(run, x, dropout_ > 0)
                                    : run(x, training ? Pass::training : Pass::evaluation);
}

std::int64_t outputs_for(const data::ExampleShape& shape) {
  switch (shape.target) {
  case data::ExampleShape::Target::classes:
    return shape.classes;
  case data::ExampleShape::Target::number:
    return 1;
  case data::ExampleShape::Target::next_token:
    return shape.vocabulary;
  }
  return 1;
}

std::unique_ptr<Model> make_model(const run::ModelSpec& spec, const data::ExampleShape& shape, double dropout,
                                  std::optional<std::uint64_t> seed, c10::Device device) {
  const NetworkOptions options{spec, shape, dropout, seed ? at::detail::createCPUGenerator(*seed) : at::Generator(),
                               device};
#define MODEL(network, ...)                                                                                            \
  if (spec.name == #network)                                                                                           \
    return make_##network(options);
#include "core/run/models.def"
#undef MODEL
  throw Error(Error::Kind::failed, "the model " + spec.name + " has no network");
}

} // namespace batchscope::model
