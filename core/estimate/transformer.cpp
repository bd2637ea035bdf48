#include "core/estimate/transformer.h"

#include <array>
#include <cmath>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/base/text.h"

namespace batchscope::estimate {

namespace {

constexpr double too_many_parameters = 9.2e18; // 2^63

class Config {
public:
  Config(const Json& json, std::string name) : json_(json), name_(std::move(name)) {}

  double size(const char* key) const {
    const auto found = optional_size(key);
    if (!found)
      throw input_error(fmt::format("{}: \"{}\" is missing", name_, key));
    return *found;
  }
  std::optional<double> optional_size(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || found->is_null())
      return std::nullopt;
    if (!found->is_number_integer() || *found < 1 || *found > (std::int64_t{1} << 48))
      throw input_error(
          fmt::format("{}: \"{}\" is {}; accepted: a whole number from 1", name_, key, shortened(json_text(*found))));
    return found->get<double>();
  }
  bool flag(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && found->is_boolean() && found->get<bool>();
  }

private:
  const Json& json_;
  std::string name_;
};

Transformer gpt2(const Config& config) {
  const double width = config.size("n_embd"), layers = config.size("n_layer");
  const double vocabulary = config.size("vocab_size"), positions = config.size("n_positions");
  const double inner = config.optional_size("n_inner").value_or(4 * width);
  const double attention = 4 * width * width + 4 * width;
  const double feed_forward = 2 * width * inner + inner + width;
  const double norms = 4 * width;
  return {.family = {},
          .parameters =
              (vocabulary + positions) * width + layers * (attention + feed_forward + norms) + 2 * width, // tied head
          .layers = std::llround(layers),
          .width = std::llround(width),
          .heads = std::llround(config.size("n_head")),
          .vocabulary = std::llround(vocabulary),
          .positions = std::llround(positions),
          .model = fmt::format("gpt:layers={},heads={},width={},inner={},positions={},tied=1", layers,
                               config.size("n_head"), width, inner, positions)};
}

Transformer bert(const Config& config) {
  const double width = config.size("hidden_size"), layers = config.size("num_hidden_layers");
  const double inner = config.size("intermediate_size");
  const double vocabulary = config.size("vocab_size"), positions = config.size("max_position_embeddings");
  const double types = config.optional_size("type_vocab_size").value_or(2);
  const double embeddings = (vocabulary + positions + types) * width + 2 * width;
  const double layer = 4 * (width * width + width) + 2 * width * inner + inner + width + 4 * width;
  const double pooler = width * width + width;
  return {.family = {},
          .parameters = embeddings + layers * layer + pooler,
          .layers = std::llround(layers),
          .width = std::llround(width),
          .heads = std::llround(config.size("num_attention_heads")),
          .vocabulary = std::llround(vocabulary),
          .positions = std::llround(positions),
          .model = fmt::format("bert:layers={},heads={},width={},inner={},positions={},types={},mask=1", layers,
                               config.size("num_attention_heads"), width, inner, positions, types)};
}

struct LlamaVariant {
  bool bias = false;       ///< of query, key and value
  bool head_norms = false; ///< of query and key
};

Transformer llama_like(const Config& config, const LlamaVariant& variant) {
  const double width = config.size("hidden_size"), layers = config.size("num_hidden_layers");
  const double inner = config.size("intermediate_size"), vocabulary = config.size("vocab_size");
  const double heads = config.size("num_attention_heads");
  const double head = config.optional_size("head_dim").value_or(std::floor(width / heads));
  const double queries = heads * head;
  const double key_heads = config.optional_size("num_key_value_heads").value_or(heads);
  const double keys = key_heads * head;
  const bool tied = config.flag("tie_word_embeddings");
  double layer = 2 * width * queries + 2 * width * keys + 3 * width * inner + 2 * width;
  if (variant.bias)
    layer += queries + 2 * keys;
  if (variant.head_norms)
    layer += 2 * head;
  const double embeddings = (tied ? 1 : 2) * vocabulary * width;
  return {.family = {},
          .parameters = embeddings + layers * layer + width,
          .layers = std::llround(layers),
          .width = std::llround(width),
          .heads = std::llround(heads),
          .vocabulary = std::llround(vocabulary),
          .positions = std::llround(config.optional_size("max_position_embeddings").value_or(0)),
          .model =
              fmt::format("llama:layers={},heads={},kv-heads={},head-width={},width={},inner={},tied={:d},bias={:d},"
                          "head-norms={:d}",
                          layers, heads, key_heads, head, width, inner, tied, variant.bias, variant.head_norms)};
}

struct Family {
  const char* name; ///< `model_type`
  Transformer (*read)(const Config& config);
};

constexpr std::array known_families{
    Family{"gpt2", gpt2},
    Family{"bert", bert},
    Family{"llama", [](const Config& config) { return llama_like(config, {}); }},
    Family{"mistral", [](const Config& config) { return llama_like(config, {}); }},
    Family{"qwen2", [](const Config& config) { return llama_like(config, {.bias = true}); }},
    Family{"qwen3", [](const Config& config) { return llama_like(config, {.head_norms = true}); }},
};

} // namespace

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const Family& family : known_families)
    names.emplace_back(family.name);
  return names;
}

std::optional<Transformer> transformer_of(const run::ModelSpec& model, std::int64_t parameters,
                                          std::int64_t vocabulary) {
  if (model.sizes.count("heads") == 0)
    return std::nullopt;
  return Transformer{.family = {},
                     .parameters = static_cast<double>(parameters),
                     .layers = model.size("layers"),
                     .width = model.size("width"),
                     .heads = model.size("heads"),
                     .vocabulary = vocabulary,
                     .positions = model.context(),
                     .model = {}};
}

Transformer transformer_from_config(const std::string& json, const std::string& name) {
  const Json parsed = parse_json_or_discard(json);
  if (!parsed.is_object())
    throw input_error(name + ": not a JSON object; accepted: the config.json of a model");
  const std::string wanted = text_member(parsed, "model_type");
  for (const Family& family : known_families) {
    if (wanted != family.name)
      continue;
    Transformer read = family.read(Config(parsed, name));
    if (read.parameters >= too_many_parameters)
      throw input_error(name + ": the sizes make more than 2^63 parameters");
    read.family = family.name;
    return read;
  }
  throw input_error(
      fmt::format("{}: \"model_type\" is {}; accepted: {}", name, in_quotes(wanted), fmt::join(families(), ", ")));
}

} // namespace batchscope::estimate
