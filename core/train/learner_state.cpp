// The learner's state in checkpoints: a list of named tensors. What training adds to its state is added in state().
#include "core/train/detail/learner.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/memory/detail/budget_allocator.h"

namespace batchscope::train {

namespace {

constexpr const char* generator_name = "generator";

constexpr std::array<std::pair<at::ScalarType, const char*>, 10> type_names = {{{at::kDouble, "F64"},
                                                                                {at::kFloat, "F32"},
                                                                                {at::kHalf, "F16"},
                                                                                {at::kBFloat16, "BF16"},
                                                                                {at::kLong, "I64"},
                                                                                {at::kInt, "I32"},
                                                                                {at::kShort, "I16"},
                                                                                {at::kChar, "I8"},
                                                                                {at::kByte, "U8"},
                                                                                {at::kBool, "BOOL"}}};

const char* name_of_type(at::ScalarType type) {
  const auto found =
      std::find_if(type_names.begin(), type_names.end(), [&](const auto& each) { return each.first == type; });
  if (found == type_names.end())
    throw Error(Error::Kind::failed, "a checkpoint cannot hold a tensor of this type");
  return found->second;
}

checkpoint::Tensor copied(const std::string& name, const at::Tensor& tensor) {
  const at::Tensor here = tensor.detach().to(at::kCPU).contiguous();
  const std::shared_ptr<char[]> data(new char[here.nbytes()]); // not set to zero first
  std::memcpy(data.get(), here.const_data_ptr(), here.nbytes());
  return {.name = name,
          .type = name_of_type(here.scalar_type()),
          .shape = here.sizes().vec(),
          .data = data,
          .bytes = here.nbytes()};
}

/// Valid as long as the checkpoint's tensor is.
at::Tensor view_of(const checkpoint::Tensor& tensor, at::ScalarType type) {
  return at::from_blob(const_cast<char*>(tensor.data.get()), tensor.shape, at::TensorOptions(type));
}

std::string form(const char* type, at::IntArrayRef shape) {
  return fmt::format("{} [{}]", type, fmt::join(shape.begin(), shape.end(), ", "));
}

void check_form(const checkpoint::Tensor& stored, const at::Tensor& tensor) {
  const char* type = name_of_type(tensor.scalar_type());
  if (stored.type != type || at::IntArrayRef(stored.shape) != tensor.sizes())
    throw input_error(fmt::format("the checkpoint is of another model: its tensor {} is {}, and the model's is {}",
                                  stored.name, form(stored.type.c_str(), stored.shape), form(type, tensor.sizes())));
}

} // namespace

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
  return all;
}

std::vector<checkpoint::Tensor> Learner::copy_state() const {
  const memory::NotCounted own;
  std::vector<checkpoint::Tensor> copies;
  for (const auto& [name, tensor] : state())
    copies.push_back(copied(name, tensor));
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
  drop_gradients();
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor stored = view_of(checkpoint.tensor(name), tensor.scalar_type());
    if (name == generator_name)
      generator_.set_state(stored.clone());
    else
      tensor.detach().copy_(stored);
  }
}

} // namespace batchscope::train
