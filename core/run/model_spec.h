#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace batchscope::run {

/// A built-in model and its sizes. A plain value.
struct ModelSpec {
  enum class Norm { group, batch };

  std::string name = "cnn";
  std::map<std::string, std::int64_t> sizes; ///< all of the model's, by name
  Norm norm = Norm::group;                   ///< of a model that has one

  std::int64_t size(const std::string& name) const { return sizes.at(name); }
  std::int64_t context() const; ///< tokens per example, for models of text
};

/// Metadata of a built-in model, without its network: a row of the table in model_spec.cpp. The network is a file in
/// core/model and a line in networks.def there.
struct ModelKind {
  struct Size {
    const char* name;
    std::int64_t standard;
    std::int64_t highest;
  };
  const char* name;
  const char* example; ///< for a form
  std::vector<Size> sizes;
  std::vector<data::ExampleShape::Input> inputs; ///< supported input types
  bool has_norm = false;
  void (*check)(const ModelSpec& spec) = nullptr; ///< checks beyond the bounds of the sizes; throws Error (input)
};
const std::vector<ModelKind>& model_kinds();

/// Reads `cnn:width=32,norm=group`, `mlp:hidden=256`, `resnet:width=16`, `gpt:layers=4,heads=4,width=128,context=128`.
/// Throws Error (input) naming the model or parameter and the limit that it exceeds.
ModelSpec parse_model(const std::string& text);

/// Throws Error (input) if the model cannot take such examples (an image model on text, an image too small).
void check_fits(const ModelSpec& spec, const data::ExampleShape& shape);

/// Whether the examples of a micro batch affect each other, so that splitting a batch changes the result.
bool has_batch_norm(const ModelSpec& spec);

} // namespace batchscope::run
