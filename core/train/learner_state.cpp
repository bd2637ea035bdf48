// The learner's state in checkpoints, a list of named tensors, and its weights in files. What training adds to its
// state is added in state().
#include "core/train/detail/learner.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/scalar_tensor.h>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/memory/detail/budget_allocator.h"
#include "core/model/detail/weights.h"

namespace batchscope::train {

namespace {

constexpr const char* generator_name = "generator";
constexpr const char* model_file_name = "model_file"; ///< the checksum of a model that comes from a file

/// Throws Error (input) unless the checkpoint's tensor has the type and the shape of the run's.
void check_form(const checkpoint::Tensor& stored, const at::Tensor& tensor) {
  const std::string stored_form = model::form_of(stored), form = model::form_of(tensor);
  if (stored_form != form)
    throw input_error(fmt::format("the checkpoint is of another model: its tensor {} is {}, and the model's is {}",
                                  stored.name, stored_form, form));
}

} // namespace

std::vector<checkpoint::Tensor> Learner::copy_weights() {
  const memory::NotCounted own;
  std::optional<AveragedWeights::InUse> averaged;
  if (averages_)
    averaged.emplace(*averages_);
  return model::copy_weights(*model_);
}

std::vector<std::pair<std::string, at::Tensor>> Learner::state() const {
  std::vector<std::pair<std::string, at::Tensor>> all;
  const auto add = [&](const char* group, const std::vector<at::Tensor>& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      all.emplace_back(fmt::format("{}.{}", group, i), tensors[i]);
  };
  add("parameters", model_->parameters());
  add("buffers", model_->buffers());
  add("optimizer", optimizer_->state());
  if (averages_)
    add("averages", averages_->state());
  if (scaler_)
    add("scaler", scaler_->state());
  all.emplace_back(generator_name, generator_.get_state());
  if (const auto checksum = model_->file_checksum())
    all.emplace_back(model_file_name, at::scalar_tensor(std::int64_t{*checksum}, at::kLong));
  return all;
}

std::vector<checkpoint::Tensor> Learner::copy_state() const {
  const memory::NotCounted own;
  std::vector<checkpoint::Tensor> copies;
  for (const auto& [name, tensor] : state())
    copies.push_back(model::copied(name, tensor));
  return copies;
}

void Learner::restore(const checkpoint::Checkpoint& checkpoint) {
  const at::NoGradGuard no_grad;
  const memory::NotCounted own;
  const auto tensors = state();
  for (const auto& [name, tensor] : tensors)
    check_form(checkpoint.tensor(name), tensor);
  if (checkpoint.tensors.size() != tensors.size())
    throw input_error(fmt::format("the checkpoint is of another model: it has {} tensors, and the run {}",
                                  checkpoint.tensors.size(), tensors.size()));
  for (const auto& [name, tensor] : tensors)
    if (name == model_file_name && !model::view_of(checkpoint.tensor(name), at::kLong).equal(tensor))
      throw input_error("--model: the model's file has changed since the checkpoint; restore it, or start a new run",
                        "model");
  drop_gradients();
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor stored = model::view_of(checkpoint.tensor(name), tensor.scalar_type());
    if (name == generator_name)
      generator_.set_state(stored.clone());
    else
      tensor.detach().copy_(stored);
  }
}

} // namespace batchscope::train
