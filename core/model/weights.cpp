#include "core/model/detail/weights.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include <ATen/core/grad_mode.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::model {

namespace {

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
    throw Error(Error::Kind::failed, "a file cannot hold a tensor of this type");
  return found->second;
}

std::string form(const std::string& type, at::IntArrayRef shape) {
  return fmt::format("{} [{}]", type, fmt::join(shape.begin(), shape.end(), ", "));
}

/// PyTorch counts the steps of a batch norm, for a momentum that the built-in models do not have.
bool is_step_counter(const std::string& name) {
  return name.ends_with(".num_batches_tracked");
}

std::map<std::string, checkpoint::Tensor> read_weights(const std::string& file) {
  std::map<std::string, checkpoint::Tensor> all;
  try {
    for (checkpoint::Tensor& tensor : checkpoint::read_safetensors(file))
      all.emplace(tensor.name, std::move(tensor));
  } catch (const Error& error) {
    throw Error(error.kind(), std::string("--init: ") + error.what(), "init");
  }
  return all;
}

} // namespace

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

at::Tensor view_of(const checkpoint::Tensor& tensor, at::ScalarType type) {
  return at::from_blob(const_cast<char*>(tensor.data.get()), tensor.shape, at::TensorOptions(type));
}

std::string form_of(const checkpoint::Tensor& tensor) {
  return form(tensor.type, tensor.shape);
}

std::string form_of(const at::Tensor& tensor) {
  return form(name_of_type(tensor.scalar_type()), tensor.sizes());
}

std::vector<checkpoint::Tensor> copy_weights(const Model& model) {
  std::vector<checkpoint::Tensor> copies;
  for (const auto& [name, tensor] : model.state())
    copies.push_back(copied(name, tensor));
  return copies;
}

void load_weights(const Model& model, const std::string& file) {
  const at::NoGradGuard no_grad;
  const auto refuse = [&](const std::string& why) {
    throw input_error(fmt::format("--init: {}: {}", file, why), "init");
  };
  std::map<std::string, checkpoint::Tensor> stored = read_weights(file);
  for (const auto& [name, tensor] : model.state()) {
    const auto found = stored.find(name);
    if (found == stored.end())
      refuse(fmt::format("has no tensor {}, one of the {} of this model", in_quotes(name), model.state().size()));
    else if (form_of(found->second) != form_of(tensor))
      refuse(fmt::format("tensor {} is {}, and the model's is {}", in_quotes(name), form_of(found->second),
                         form_of(tensor)));
  }
  for (const auto& [name, tensor] : stored)
    if (!is_step_counter(name) && std::none_of(model.state().begin(), model.state().end(),
                                               [&wanted = name](const auto& own) { return own.first == wanted; }))
      refuse(fmt::format("has the tensor {}, which this model has not", in_quotes(name)));
  for (const auto& [name, tensor] : model.state())
    tensor.detach().copy_(view_of(stored.at(name), tensor.scalar_type()));
}

} // namespace batchscope::model
