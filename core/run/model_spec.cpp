#include "core/run/model_spec.h"

#include <functional>
#include <map>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::run {

namespace {

constexpr std::int64_t smallest_image = 8;
constexpr std::int64_t largest_image = 1024;

using Setter = std::function<void(ModelSpec&, const std::string&)>;
using Setters = std::map<std::string, Setter>;

Setter integer(std::int64_t ModelSpec::*field, const std::string& name, std::int64_t highest) {
  return [=](ModelSpec& spec, const std::string& value) { spec.*field = parse_integer(value, name, 1, highest); };
}

void set_norm(ModelSpec& spec, const std::string& value) {
  if (value != "group" && value != "batch")
    throw input_error("--model: unknown norm '" + shortened(value) + "'; accepted: group, batch");
  spec.norm = value == "group" ? ModelSpec::Norm::group : ModelSpec::Norm::batch;
}

struct KnownModel {
  ModelSpec defaults;
  Setters setters;
};

const std::map<std::string, KnownModel>& known_models() {
  static const std::map<std::string, KnownModel> models = {
      {"mlp",
       {{.kind = ModelSpec::Kind::mlp},
        {{"hidden", integer(&ModelSpec::hidden, "--model mlp:hidden", 65536)},
         {"layers", integer(&ModelSpec::layers, "--model mlp:layers", 64)}}}},
      {"cnn",
       {{.kind = ModelSpec::Kind::cnn},
        {{"width", integer(&ModelSpec::width, "--model cnn:width", 1024)}, {"norm", set_norm}}}},
      {"resnet",
       {{.kind = ModelSpec::Kind::resnet, .width = 16},
        {{"width", integer(&ModelSpec::width, "--model resnet:width", 1024)},
         {"blocks", integer(&ModelSpec::blocks, "--model resnet:blocks", 32)},
         {"norm", set_norm}}}},
      {"gpt",
       {{.kind = ModelSpec::Kind::gpt, .layers = 4, .width = 128},
        {{"layers", integer(&ModelSpec::layers, "--model gpt:layers", 256)},
         {"heads", integer(&ModelSpec::heads, "--model gpt:heads", 256)},
         {"width", integer(&ModelSpec::width, "--model gpt:width", 16384)},
         {"context", integer(&ModelSpec::context, "--model gpt:context", 65536)}}}},
  };
  return models;
}

template <typename Map> std::string names(const Map& map) {
  std::string text;
  for (const auto& [name, value] : map)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}

const char* describe(data::ExampleShape::Input input) {
  switch (input) {
  case data::ExampleShape::Input::features:
    return "rows of numbers";
  case data::ExampleShape::Input::image:
    return "images";
  case data::ExampleShape::Input::tokens:
    return "text";
  }
  return "unknown";
}

void check_image(const data::ExampleShape& shape) {
  for (std::size_t side = 1; side < 3; ++side) {
    if (shape.dimensions[side] < smallest_image || shape.dimensions[side] > largest_image)
      throw input_error("--model: images of " + std::to_string(shape.dimensions[1]) + "x" +
                        std::to_string(shape.dimensions[2]) + " pixels; accepted: " + std::to_string(smallest_image) +
                        " to " + std::to_string(largest_image) + " pixels a side");
  }
}

} // namespace

ModelSpec parse_model(const std::string& text) {
  const NamedParameters named = parse_named(text, "--model");
  const auto found = known_models().find(named.name);
  if (found == known_models().end())
    throw input_error("--model: unknown model '" + shortened(named.name) + "'; accepted: " + names(known_models()));
  ModelSpec spec = found->second.defaults;
  for (const auto& [key, value] : named.parameters) {
    const auto setter = found->second.setters.find(key);
    if (setter == found->second.setters.end())
      throw input_error("--model: " + named.name + " has no parameter '" + shortened(key) +
                        "'; accepted: " + names(found->second.setters));
    setter->second(spec, value);
  }
  if (spec.kind == ModelSpec::Kind::gpt && spec.width % spec.heads != 0)
    throw input_error("--model: gpt:width=" + std::to_string(spec.width) +
                      " is not divisible by heads=" + std::to_string(spec.heads));
  return spec;
}

void check_fits(const ModelSpec& spec, const data::ExampleShape& shape) {
  using Input = data::ExampleShape::Input;
  const bool fits = spec.kind == ModelSpec::Kind::gpt   ? shape.input == Input::tokens
                    : spec.kind == ModelSpec::Kind::mlp ? shape.input != Input::tokens
                                                        : shape.input == Input::image;
  if (!fits) {
    const char* accepted = shape.input == Input::tokens  ? "choose gpt"
                           : shape.input == Input::image ? "choose cnn, resnet or mlp"
                                                         : "choose mlp";
    throw input_error(std::string("--model: the data has ") + describe(shape.input) + "; " + accepted);
  }
  if (shape.input == Input::image)
    check_image(shape);
}

bool has_batch_norm(const ModelSpec& spec) {
  return (spec.kind == ModelSpec::Kind::cnn || spec.kind == ModelSpec::Kind::resnet) &&
         spec.norm == ModelSpec::Norm::batch;
}

} // namespace batchscope::run
