#include "core/model/detail/checkpoint.h"

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/alias.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

#include "core/memory/detail/budget_allocator.h"
#include "core/model/detail/autocast.h"

namespace batchscope::model {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// State of the device's default generator, which dropout uses; undefined for `meta`, which has none.
at::Tensor generator_state(const c10::Device& device) {
  const memory::NotCounted own;
  return device.is_meta() ? at::Tensor() : at::globalContext().defaultGenerator(device).get_state();
}

/// While one exists, the default generator goes on from `state`, unless that is undefined.
class DrawingFrom {
public:
  DrawingFrom(const at::Tensor& state, const c10::Device& device) {
    if (!state.defined())
      return;
    generator_ = at::globalContext().defaultGenerator(device);
    after_ = generator_state(device);
    generator_.set_state(state);
  }
  ~DrawingFrom() {
    if (generator_.defined())
      generator_.set_state(after_);
  }
  DrawingFrom(const DrawingFrom&) = delete;
  DrawingFrom& operator=(const DrawingFrom&) = delete;

private:
  at::Generator generator_;
  at::Tensor after_;
};

struct SavedSegment final : torch::CustomClassHolder {
  SavedSegment(Segment run, at::Tensor generator, at::ScalarType precision)
      : run(std::move(run)), generator(std::move(generator)), precision(precision) {}
  Segment run;
  at::Tensor generator; ///< its state before the segment; undefined if that draws nothing
  at::ScalarType precision;
};

class Checkpointed : public torch::autograd::Function<Checkpointed> {
public:
  static at::Tensor forward(AutogradContext* context, const Segment& segment, bool draws, const at::Tensor& x,
                            const at::Tensor& /*node*/) {
    context->save_for_backward({x});
    context->saved_data["segment"] = c10::IValue::make_capsule(c10::make_intrusive<SavedSegment>(
        segment, draws ? generator_state(x.device()) : at::Tensor(), Autocast::type_on(x.device())));
    return segment(x, Pass::training); // LibTorch has turned gradients off
  }

  /// The gradients of the segment's parameters are accumulated by a backward pass within this one.
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const auto capsule = context->saved_data["segment"].toCapsule();
    const auto& segment = static_cast<const SavedSegment&>(*capsule);
    const at::Tensor saved = context->get_saved_variables().front();
    const at::Tensor input = saved.detach().set_requires_grad(saved.requires_grad());
    at::Tensor y;
    {
      const DrawingFrom same(segment.generator, input.device());
      const Autocast mixed(input.device(), segment.precision);
      const at::AutoGradMode with_gradients(true);
      // Autocast keeps its copy of a leaf, as of a weight, for all that read it, and then adds their gradients in the
      // lower precision. In the pass that this repeats, the input was no leaf.
      y = segment.run(at::alias(input), Pass::recomputation);
    }
    torch::autograd::backward({y}, gradients);
    return {{}, {}, input.grad(), {}};
  }
};

} // namespace

at::Tensor checkpointed(const Segment& segment, const at::Tensor& x, bool draws) {
  // LibTorch would not run the backward pass of a segment whose input needs no gradient.
  const at::Tensor node = at::empty({0}, x.options().dtype(at::kFloat)).set_requires_grad(true);
  return Checkpointed::apply(segment, draws, x, node);
}

} // namespace batchscope::model
