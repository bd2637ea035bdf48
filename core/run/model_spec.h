#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace batchscope::run {

struct RunSpec;

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
    std::int64_t standard; ///< 0: follows from the others, see `complete`
    std::int64_t highest;
    std::int64_t lowest = 1;
    bool grows = false; ///< a dimension in which the network is made larger, not one that divides or switches it
  };
  const char* name;
  const char* example; ///< for a form
  std::vector<Size> sizes;
  std::vector<data::ExampleShape::Input> inputs; ///< supported input types
  bool has_norm = false;
  /// Sets the sizes that follow from others, and checks them beyond their bounds; throws Error (input).
  void (*complete)(ModelSpec& spec) = nullptr;
  /// Learns by filling masked tokens in, for which there are no data here: its memory can be computed, and measured in
  /// a search, but it is not trained.
  bool masked = false;
};
const std::vector<ModelKind>& model_kinds();

/// How the data of a run are opened. Throws Error (input) for a model that is not known.
data::DataOptions data_options(const RunSpec& spec);

/// The row of a parsed model.
const ModelKind& kind_of(const ModelSpec& spec);

/// Reads `cnn:width=32,norm=group`, `mlp:hidden=256`, `resnet:width=16`, `gpt:layers=4,heads=4,width=128,context=128`.
/// Throws Error (input) naming the model or parameter and the limit that it exceeds.
ModelSpec parse_model(const std::string& text);

/// The text of the model with one size changed, as parse_model() reads it.
std::string with_size(const std::string& text, const std::string& name, std::int64_t value);

/// Throws Error (input) if the model cannot take such examples (an image model on text, an image too small).
void check_fits(const ModelSpec& spec, const data::ExampleShape& shape);

/// Throws Error (input) for a masked model.
void check_trains(const ModelSpec& spec);

/// Whether the examples of a micro batch affect each other, so that splitting a batch changes the result.
bool has_batch_norm(const ModelSpec& spec);

} // namespace batchscope::run
