#include "core/run/model_spec.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/run_spec.h"

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

void check_divides(const ModelSpec& spec, const char* size, const char* by) {
  if (spec.size(size) % spec.size(by) != 0)
    throw input_error(fmt::format("--model: {}:{}={} is not divisible by {}={}", spec.name, size, spec.size(size), by,
                                  spec.size(by)));
}

void set_if_open(ModelSpec& spec, const char* name, std::int64_t value) {
  if (std::int64_t& size = spec.sizes.at(name); size == 0)
    size = value;
}

void complete_gpt(ModelSpec& spec) {
  check_divides(spec, "width", "heads");
  set_if_open(spec, "inner", 4 * spec.size("width"));
  set_if_open(spec, "positions", spec.size("context"));
  if (spec.size("positions") < spec.size("context"))
    throw input_error(fmt::format("--model: {}:context={} is longer than positions={}", spec.name, spec.size("context"),
                                  spec.size("positions")));
}

void complete_vit(ModelSpec& spec) {
  check_divides(spec, "width", "heads");
  set_if_open(spec, "inner", 4 * spec.size("width"));
}

void check_patches(const ModelSpec& spec, const data::ExampleShape& shape) {
  const std::int64_t side = spec.size("patch");
  if (shape.dimensions[1] % side != 0 || shape.dimensions[2] % side != 0)
    throw input_error(fmt::format("--model: {}:patch={} does not divide images of {}x{} pixels", spec.name, side,
                                  shape.dimensions[1], shape.dimensions[2]));
}

void check_mask(const ModelSpec& spec, const data::ExampleShape& shape) {
  if (spec.size("mask") >= shape.vocabulary)
    throw input_error(fmt::format("--model: {}:mask={} is no token of the data; accepted: 1 to {}, or 0 for one more "
                                  "token",
                                  spec.name, spec.size("mask"), shape.vocabulary - 1));
}

/// The inner width is that of the first Llama's code: two thirds of 4 x width, rounded up to a multiple of 256.
void complete_llama(ModelSpec& spec) {
  constexpr std::int64_t multiple = 256;
  set_if_open(spec, "kv-heads", spec.size("heads"));
  check_divides(spec, "heads", "kv-heads");
  if (spec.size("head-width") == 0)
    check_divides(spec, "width", "heads");
  set_if_open(spec, "head-width", spec.size("width") / spec.size("heads"));
  if (spec.size("head-width") % 2 != 0)
    throw input_error(fmt::format("--model: {}:head-width={} is odd; rotary positions take pairs", spec.name,
                                  spec.size("head-width")));
  set_if_open(spec, "inner", (8 * spec.size("width") / 3 + multiple - 1) / multiple * multiple);
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
  spec.sizes[key] = parse_integer(value, fmt::format("--model {}:{}", kind.name, key), size->lowest, size->highest);
}

/// The file's name extends to the first comma, as in the texts of data.
ModelSpec parse_script(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::size_t comma = std::min(text.find(','), text.size());
  ModelSpec spec{.name = text.substr(0, colon)};
  spec.file = colon < comma ? text.substr(colon + 1, comma - colon - 1) : std::string();
  if (spec.file.empty())
    throw input_error(fmt::format("--model: {}: a file name is missing; accepted: {}", in_quotes(text),
                                  find_kind(spec.name)->example));
  if (comma == text.size())
    return spec;
  for (const auto& [key, value] : parse_named(spec.name + ':' + text.substr(comma + 1), "--model").parameters)
    set_parameter(spec, *find_kind(spec.name), key, value);
  return spec;
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
  constexpr std::int64_t max_context = 65536;
  const ModelKind::Size layers{.name = "layers", .standard = 4, .highest = 256, .grows = true};
  const ModelKind::Size heads{.name = "heads", .standard = 4, .highest = 256};
  const ModelKind::Size width{.name = "width", .standard = 128, .highest = 16384, .grows = true};
  const ModelKind::Size context{.name = "context", .standard = default_context, .highest = max_context, .grows = true};
  const ModelKind::Size inner{.name = "inner", .standard = 0, .highest = 262144, .lowest = 0};
  const ModelKind::Size positions{.name = "positions", .standard = 0, .highest = 1 << 20, .lowest = 0};
  const auto flag = [](const char* name) {
    return ModelKind::Size{.name = name, .standard = 0, .highest = 1, .lowest = 0};
  };
  static const std::vector<ModelKind> kinds = {
#define MODEL(model, ...) ModelKind{.name = #model, __VA_ARGS__},
#include "core/run/models.def"
#undef MODEL
  };
  return kinds;
}

std::int64_t ModelSpec::context() const {
  const auto found = sizes.find("context");
  return found == sizes.end() ? default_context : found->second;
}

bool is_script(const std::string& model) {
  return model.substr(0, model.find(':')) == "torchscript";
}

ModelSpec parse_model(const std::string& text) {
  if (is_script(text))
    return parse_script(text);
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
  if (kind->complete)
    kind->complete(spec);
  return spec;
}

data::DataOptions data_options(const RunSpec& spec) {
  return {.context = parse_model(spec.model).context(), .augment = spec.augment};
}

const ModelKind& kind_of(const ModelSpec& spec) {
  return *find_kind(spec.name);
}

std::string with_size(const std::string& text, const std::string& name, std::int64_t value) {
  NamedParameters named = parse_named(text, "--model");
  std::vector<std::string> parameters;
  for (const auto& [key, each] : named.parameters) {
    if (key != name)
      parameters.push_back(key + '=' + each);
  }
  parameters.push_back(fmt::format("{}={}", name, value));
  return fmt::format("{}:{}", named.name, fmt::join(parameters, ","));
}

void check_fits(const ModelSpec& spec, const data::ExampleShape& shape) {
  if (!takes(kind_of(spec), shape.input))
    throw input_error(
        fmt::format("--model: the data has {}; choose {}", describe(shape.input), models_for(shape.input)));
  if (shape.input == Input::image && !kind_of(spec).script)
    check_image(shape);
  if (kind_of(spec).check_shape)
    kind_of(spec).check_shape(spec, shape);
}

std::int64_t mask_token(const ModelSpec& spec, const data::ExampleShape& shape) {
  const std::int64_t named = spec.size("mask");
  return named == 0 ? shape.vocabulary : named;
}

bool has_batch_norm(const ModelSpec& spec) {
  return kind_of(spec).has_norm && spec.norm == ModelSpec::Norm::batch;
}

} // namespace batchscope::run
