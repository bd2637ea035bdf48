#include "core/run/model_spec.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::run {

namespace {

constexpr std::int64_t smallest_image = 8;
constexpr std::int64_t largest_image = 1024;
constexpr std::int64_t default_context = 128;

using Input = data::ExampleShape::Input;

ModelSpec::Norm norm_from(const std::string& value) {
  if (value != "group" && value != "batch")
    throw input_error("--model: unknown norm '" + shortened(value) + "'; accepted: group, batch");
  return value == "group" ? ModelSpec::Norm::group : ModelSpec::Norm::batch;
}

void check_heads(const ModelSpec& spec) {
  if (spec.size("width") % spec.size("heads") != 0)
    throw input_error(fmt::format("--model: {}:width={} is not divisible by heads={}", spec.name, spec.size("width"),
                                  spec.size("heads")));
}

const ModelKind* find_kind(const std::string& name) {
  const auto& kinds = model_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(), [&](const ModelKind& kind) { return name == kind.name; });
  return found == kinds.end() ? nullptr : &*found;
}

std::string names_of(const ModelKind& kind) {
  std::vector<std::string> names;
  for (const ModelKind::Size& size : kind.sizes)
    names.emplace_back(size.name);
  if (kind.has_norm)
    names.emplace_back("norm");
  return fmt::format("{}", fmt::join(names, ", "));
}

void set_parameter(ModelSpec& spec, const ModelKind& kind, const std::string& key, const std::string& value) {
  if (kind.has_norm && key == "norm") {
    spec.norm = norm_from(value);
    return;
  }
  const auto size =
      std::find_if(kind.sizes.begin(), kind.sizes.end(), [&](const ModelKind::Size& each) { return key == each.name; });
  if (size == kind.sizes.end())
    throw input_error(
        fmt::format("--model: {} has no parameter '{}'; accepted: {}", kind.name, shortened(key), names_of(kind)));
  spec.sizes[key] = parse_integer(value, fmt::format("--model {}:{}", kind.name, key), 1, size->highest);
}

bool takes(const ModelKind& kind, Input input) {
  return std::find(kind.inputs.begin(), kind.inputs.end(), input) != kind.inputs.end();
}

/// "cnn, mlp or resnet": the models that take such examples.
std::string models_for(Input input) {
  std::vector<std::string> names;
  for (const ModelKind& kind : model_kinds())
    if (takes(kind, input))
      names.emplace_back(kind.name);
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : fmt::format("{} or {}", fmt::join(names, ", "), last);
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

const std::vector<ModelKind>& model_kinds() {
  static const std::vector<ModelKind> kinds = {
      {.name = "cnn",
       .example = "cnn:width=64",
       .sizes = {{"width", 32, 1024}},
       .inputs = {Input::image},
       .has_norm = true},
      {.name = "mlp",
       .example = "mlp:hidden=256",
       .sizes = {{"hidden", 256, 65536}, {"layers", 1, 64}},
       .inputs = {Input::image, Input::features}},
      {.name = "resnet",
       .example = "resnet:width=16",
       .sizes = {{"width", 16, 1024}, {"blocks", 2, 32}},
       .inputs = {Input::image},
       .has_norm = true},
      {.name = "gpt",
       .example = "gpt:layers=4,heads=4,width=128,context=128",
       .sizes = {{"layers", 4, 256}, {"heads", 4, 256}, {"width", 128, 16384}, {"context", default_context, 65536}},
       .inputs = {Input::tokens},
       .check = check_heads},
  };
  return kinds;
}

std::int64_t ModelSpec::context() const {
  const auto found = sizes.find("context");
  return found == sizes.end() ? default_context : found->second;
}

ModelSpec parse_model(const std::string& text) {
  const NamedParameters named = parse_named(text, "--model");
  const ModelKind* kind = find_kind(named.name);
  if (kind == nullptr) {
    std::vector<std::string> names;
    for (const ModelKind& each : model_kinds())
      names.emplace_back(each.name);
    throw input_error(
        fmt::format("--model: unknown model '{}'; accepted: {}", shortened(named.name), fmt::join(names, ", ")));
  }
  ModelSpec spec{.name = kind->name};
  for (const ModelKind::Size& size : kind->sizes)
    spec.sizes[size.name] = size.standard;
  for (const auto& [key, value] : named.parameters)
    set_parameter(spec, *kind, key, value);
  if (kind->check)
    kind->check(spec);
  return spec;
}

void check_fits(const ModelSpec& spec, const data::ExampleShape& shape) {
  if (!takes(*find_kind(spec.name), shape.input))
    throw input_error(
        fmt::format("--model: the data has {}; choose {}", describe(shape.input), models_for(shape.input)));
  if (shape.input == Input::image)
    check_image(shape);
}

bool has_batch_norm(const ModelSpec& spec) {
  return find_kind(spec.name)->has_norm && spec.norm == ModelSpec::Norm::batch;
}

} // namespace batchscope::run
