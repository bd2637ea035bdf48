#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace batchscope::run {

struct RunSpec;

/// A model: a built-in one and its sizes, or the user's own. A plain value.
struct ModelSpec {
  enum class Norm { group, batch };

  std::string name = "cnn";
  std::map<std::string, std::int64_t> sizes; ///< all of the model's, by name
  Norm norm = Norm::group;                   ///< of a model that has one
  std::string file;                          ///< of a script; else empty

  std::int64_t size(const std::string& name) const { return sizes.at(name); }
  std::int64_t context() const; ///< tokens per example, for models of text
};

/// Metadata of a model, without its network: a row of models.def. The network is a file in core/model.
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
  /// Checks what the form of the examples must meet beyond `inputs`; throws Error (input). May be null.
  void (*check_shape)(const ModelSpec& spec, const data::ExampleShape& shape) = nullptr;
  /// Learns by filling masked tokens in (data::with_masked_tokens()).
  bool masked = false;
  /// A network that the user wrote and saved as TorchScript: its layers, and its dropout, are what the file says.
  bool script = false;
};
const std::vector<ModelKind>& model_kinds();

/// How the data of a run are opened. Throws Error (input) for a model that is not known.
data::DataOptions data_options(const RunSpec& spec);

/// The row of a parsed model.
const ModelKind& kind_of(const ModelSpec& spec);

/// Reads `cnn:width=32,norm=group`, `mlp:hidden=256`, `resnet:width=16`, `gpt:layers=4,heads=4,width=128,context=128`,
/// `torchscript:FILE` (for text `torchscript:FILE,context=128`); opens no file.
/// Throws Error (input) naming the model or parameter and the limit that it exceeds.
ModelSpec parse_model(const std::string& text);

/// The text of the model with one size changed, as parse_model() reads it.
std::string with_size(const std::string& text, const std::string& name, std::int64_t value);

/// Throws Error (input) if the model cannot take such examples (an image model on text, an image too small).
void check_fits(const ModelSpec& spec, const data::ExampleShape& shape);

/// The token that masks others, for a masked model: one of the data, or one more.
std::int64_t mask_token(const ModelSpec& spec, const data::ExampleShape& shape);

/// Whether the text names a script, well formed or not.
bool is_script(const std::string& model);

/// Whether the examples of a micro batch affect each other, so that splitting a batch changes the result; not known of
/// a script.
bool has_batch_norm(const ModelSpec& spec);

} // namespace batchscope::run
