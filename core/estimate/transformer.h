#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/run/model_spec.h"

namespace batchscope::estimate {

/// Sizes of a transformer, as far as they determine its memory. 0: unknown.
struct Transformer {
  std::string family; ///< `gpt2`, `llama`, ...; empty if the sizes were given by hand
  double parameters = 0;
  std::int64_t layers = 0;
  std::int64_t width = 0; ///< hidden size
  std::int64_t heads = 0;
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0; ///< longest sequence
  std::string model; ///< the same as a built-in model, for dry runs; without its context. Empty if there is none
};

/// Reads a Hugging Face `config.json` of one of families(), and counts the parameters of the model exactly: GPT-2 and
/// the Llama family with their language-model head, BERT with its pooler. `name` is the file's, for messages. Throws
/// Error (input) for text that is not such a file, a missing or non-positive size, another family, or a parameter count
/// beyond 2^63.
Transformer transformer_from_config(const std::string& json, const std::string& name);
std::vector<std::string> families();

/// Sizes of a built-in model; nothing if it is no transformer.
std::optional<Transformer> transformer_of(const run::ModelSpec& model, std::int64_t parameters,
                                          std::int64_t vocabulary);

} // namespace batchscope::estimate
