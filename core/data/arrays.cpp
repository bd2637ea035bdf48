// `npy:` and `npz:`: arrays of NumPy.
#include <algorithm>
#include <filesystem>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/byte_images.h"
#include "core/data/input_file.h"
#include "core/data/npy.h"
#include "core/data/sources.h"
#include "core/data/table.h"
#include "core/data/zip_file.h"

namespace batchscope::data {

namespace {

constexpr std::int64_t max_array_classes = 1'000'000;

/// Position of the channels in a 4-dimensional array of images.
enum class Channels { first, last };

Channels channels_of(const SourceText& source) {
  const std::string* text = source.find("channels");
  if (text && *text != "first" && *text != "last")
    source.refuse(fmt::format("channels is '{}'; accepted: first, last", shortened(*text)));
  return text && *text == "last" ? Channels::last : Channels::first;
}

/// Dimensions of one example as a model sees it: {features}, or {channels, height, width}.
std::vector<std::int64_t> example_dimensions(const NpyReader& inputs, Channels channels) {
  const std::vector<std::int64_t>& shape = inputs.shape();
  switch (shape.size()) {
  case 2:
    return {shape[1]};
  case 3:
    return {1, shape[1], shape[2]};
  case 4:
    break;
  default:
    inputs.refuse(fmt::format("inputs have the shape {}; accepted: (examples, features), (examples, height, width) or "
                              "(examples, channels, height, width)",
                              inputs.shape_text()));
  }
  if (channels == Channels::last)
    return {shape[3], shape[1], shape[2]};
  constexpr std::int64_t most_colors = 4;
  if (shape[3] <= most_colors && shape[1] > most_colors)
    inputs.refuse(fmt::format("inputs have the shape {}, of images {} pixels wide; if the last dimension is the "
                              "channels, add channels=last",
                              inputs.shape_text(), shape[3]));
  return {shape[1], shape[2], shape[3]};
}

/// From (examples, height, width, channels) to (examples, channels, height, width).
template <typename Value>
void move_channels_first(std::vector<Value>& values, const std::vector<std::int64_t>& dimensions) {
  const auto channels = static_cast<std::size_t>(dimensions[0]);
  const auto area = static_cast<std::size_t>(dimensions[1] * dimensions[2]);
  std::vector<Value> example(channels * area);
  for (std::size_t begin = 0; begin < values.size(); begin += example.size()) {
    for (std::size_t pixel = 0; pixel < area; ++pixel)
      for (std::size_t channel = 0; channel < channels; ++channel)
        example[channel * area + pixel] = values[begin + pixel * channels + channel];
    std::copy(example.begin(), example.end(), values.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

/// Classes of whole numbers, which count from 0.
void set_classes(const NpyReader& reader, Table& table) {
  const auto [lowest, highest] = std::minmax_element(table.labels.begin(), table.labels.end());
  if (*lowest < 0 || *highest >= max_array_classes)
    reader.refuse(
        fmt::format("targets are whole numbers from {} to {}; accepted: classes from 0 to {}, or numbers of a "
                    "floating-point type",
                    *lowest, *highest, max_array_classes - 1));
  table.classes = std::max<std::int64_t>(*highest + 1, 2);
}

/// Sets the table's classes or numbers.
void read_targets(InputBytes& bytes, std::int64_t examples, Table& table) {
  NpyReader reader(bytes);
  const std::vector<std::int64_t>& shape = reader.shape();
  if (shape.empty() || reader.count() != shape[0])
    reader.refuse(fmt::format("targets have the shape {}; accepted: one number for each example", reader.shape_text()));
  if (shape[0] != examples)
    reader.refuse(fmt::format("has {} targets, but there are {} inputs", shape[0], examples));
  if (reader.has_floats()) {
    table.numbers = reader.read_floats();
    return;
  }
  table.labels = reader.read_integers();
  set_classes(reader, table);
}

DataSplit read_arrays(InputBytes& inputs, InputBytes& targets, const SourceText& source) {
  const Channels channels = channels_of(source);
  NpyReader reader(inputs);
  const std::int64_t examples = reader.shape().empty() ? 0 : reader.shape()[0];
  Table table{.dimensions = example_dimensions(reader, channels)};
  read_targets(targets, examples, table); // first, because it is small
  const bool move = channels == Channels::last && reader.shape().size() == 4;
  if (reader.has_bytes() && table.dimensions.size() == 3 && table.classes > 0) {
    ByteImages images{.count = examples,
                      .channels = table.dimensions[0],
                      .height = table.dimensions[1],
                      .width = table.dimensions[2],
                      .pixels = reader.read_bytes(),
                      .labels = std::move(table.labels),
                      .classes = table.classes};
    if (move)
      move_channels_first(images.pixels, table.dimensions);
    Split split = draw_split(images.count, source.validation);
    return split_images(std::move(images), std::move(split));
  }
  table.values = reader.read_floats();
  if (move)
    move_channels_first(table.values, table.dimensions);
  return split_table(std::move(table), source.validation);
}

DataSplit open_npy(const SourceText& source, const DataOptions& /*options*/) {
  InputFile inputs(source.files[0]), targets(source.files[1]);
  return read_arrays(inputs, targets, source);
}

/// The targets of an array of inputs, of all names that are known to `exists`; empty if there are none.
std::string targets_of(const std::string& inputs, const std::function<bool(const std::string&)>& exists) {
  constexpr std::pair<std::string_view, std::string_view> often[] = {
      {"inputs", "targets"}, {"images", "labels"}, {"features", "labels"}, {"data", "labels"}, {"x", "y"}, {"X", "y"}};
  for (const auto& [input, target] : often)
    if (inputs.starts_with(input))
      if (const std::string name = std::string(target) + inputs.substr(input.size()); exists(name))
        return name;
  return {};
}

FileText npy_text(const std::string& file) {
  const std::filesystem::path inputs(file);
  std::error_code none;
  const std::string targets = targets_of(inputs.filename(), [&](const std::string& name) {
    return std::filesystem::exists(inputs.parent_path() / name, none);
  });
  if (targets.empty())
    return {fmt::format("npy:{},", file), "Enter the file of inputs, a comma and the file of targets"};
  return {fmt::format("npy:{},{}", file, (inputs.parent_path() / targets).string()), {}};
}

} // namespace

extern const DataKind npy_data;
const DataKind npy_data{.name = "npy",
                        .form = "npy:INPUTS,TARGETS",
                        .files = 2,
                        .keys = {"channels"},
                        .open = open_npy,
                        .choice = FileChoice{"NumPy arrays", "*.npy", npy_text}};

namespace {

/// Names of the arrays in an archive.
std::vector<std::string> arrays_in(const ZipFile& archive) {
  std::vector<std::string> names;
  for (const auto& [file, entry] : archive.entries())
    names.push_back(file.ends_with(".npy") ? file.substr(0, file.size() - 4) : file);
  return names;
}

std::unique_ptr<InputBytes> open_array(const ZipFile& archive, const SourceText& source, const char* key,
                                       const char* standard) {
  const std::string* given = source.find(key);
  const std::string name = given ? *given : standard;
  if (archive.entries().contains(name + ".npy"))
    return archive.open(name + ".npy");
  throw input_error(fmt::format("{}: no array {}; choose the {} with {}=NAME; arrays are: {}", source.files[0],
                                in_quotes(name), key, key,
                                shortened(fmt::format("{}", fmt::join(arrays_in(archive), ", ")))));
}

DataSplit open_npz(const SourceText& source, const DataOptions& /*options*/) {
  const ZipFile archive(source.files[0]);
  const auto inputs = open_array(archive, source, "inputs", "x");
  const auto targets = open_array(archive, source, "targets", "y");
  return read_arrays(*inputs, *targets, source);
}

FileText npz_text(const std::string& file) {
  const std::string text = fmt::format("npz:{}", file);
  std::vector<std::string> arrays;
  try {
    arrays = arrays_in(ZipFile(file));
  } catch (const Error& error) {
    return {text, error.what()};
  }
  const auto is_there = [&](const std::string& name) {
    return std::find(arrays.begin(), arrays.end(), name) != arrays.end();
  };
  if (is_there("x") && is_there("y"))
    return {text, {}};
  for (const std::string& inputs : arrays)
    if (const std::string targets = targets_of(inputs, is_there); !targets.empty())
      return {fmt::format("{},inputs={},targets={}", text, inputs, targets), {}};
  return {text + ",inputs=",
          fmt::format("Enter the array of inputs, and ,targets= with that of targets: {}", fmt::join(arrays, ", "))};
}

} // namespace

extern const DataKind npz_data;
const DataKind npz_data{.name = "npz",
                        .form = "npz:FILE,inputs=x,targets=y",
                        .files = 1,
                        .keys = {"inputs", "targets", "channels"},
                        .open = open_npz,
                        .choice = FileChoice{"NumPy archives", "*.npz", npz_text}};

} // namespace batchscope::data
