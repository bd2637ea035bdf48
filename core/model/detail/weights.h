#pragma once

#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/checkpoint/safetensors.h"
#include "core/model/detail/model.h"

namespace batchscope::model {

/// A copy in host memory, for a file. Throws Error (failed) for a type that files do not have.
checkpoint::Tensor copied(const std::string& name, const at::Tensor& tensor);
/// Valid as long as the file's tensor is.
at::Tensor view_of(const checkpoint::Tensor& tensor, at::ScalarType type);
/// Type and shape: `F32 [2, 3]`.
std::string form_of(const checkpoint::Tensor& tensor);
std::string form_of(const at::Tensor& tensor);

std::vector<checkpoint::Tensor> copy_weights(const Model& model);
/// Gives the model the weights of a safetensors file. Throws Error (input) for a file that does not have exactly the
/// model's tensors, and changes nothing then. PyTorch's counters of batch norm steps are left out.
void load_weights(const Model& model, const std::string& file);

} // namespace batchscope::model
