#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/jit/api/module.h>

/// Files of TorchScript, made from source text.
namespace batchscope::test {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Dots are replaced in names, so that the tensors of a built-in model can be those of one script.
inline std::string attribute(std::string name) {
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
}

inline void save_script(const std::string& file, const std::string& source, const NamedTensors& parameters,
                        const NamedTensors& buffers = {}) {
  torch::jit::Module module("Net");
  for (const auto& [name, tensor] : parameters)
    module.register_parameter(attribute(name), tensor.detach().clone().set_requires_grad(true), /*is_buffer=*/false);
  for (const auto& [name, tensor] : buffers)
    module.register_buffer(attribute(name), tensor.clone());
  module.register_attribute("training", c10::BoolType::get(), true);
  module.define(source);
  module.save(file);
}

/// cnn:width=8 on images of 16x16 pixels.
inline const char* const cnn_source = R"(
def forward(self, x: Tensor) -> Tensor:
    y = torch.conv2d(x, self.conv1_weight, None, [1, 1], [1, 1], [1, 1], 1)
    y = torch.max_pool2d(torch.relu_(torch.group_norm(y, 8, self.norm1_weight, self.norm1_bias, 1e-05)), [2, 2])
    y = torch.conv2d(y, self.conv2_weight, None, [1, 1], [1, 1], [1, 1], 1)
    y = torch.max_pool2d(torch.relu_(torch.group_norm(y, 8, self.norm2_weight, self.norm2_bias, 1e-05)), [2, 2])
    return torch.linear(torch.flatten(y, 1), self.output_weight, self.output_bias)
)";

inline const char* const mlp_source = R"(
def forward(self, x: Tensor) -> Tensor:
    y = torch.relu(torch.linear(torch.flatten(x, 1), self.hidden_0_weight, self.hidden_0_bias))
    return torch.linear(y, self.output_weight, self.output_bias)
)";

} // namespace batchscope::test
