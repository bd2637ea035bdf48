#include "core/data/dataset.h"

#include <numeric>

#include "core/base/error.h"
#include "core/data/sources.h"

namespace batchscope::data {

namespace {

Error missing(const char* what) {
  return {Error::Kind::failed, std::string("this data set has no ") + what};
}

} // namespace

const std::vector<Stream>& Dataset::streams() const {
  static const std::vector<Stream> none;
  return none;
}

void Dataset::fill_inputs(std::span<const std::int64_t> /*indices*/, float* /*inputs*/) const {
  throw missing("images or features");
}

void Dataset::fill_training_inputs(std::span<const std::int64_t> indices, const AugmentationDraw& /*draw*/,
                                   float* inputs) const {
  fill_inputs(indices, inputs);
}

void Dataset::fill_tokens(std::span<const std::int64_t> /*indices*/, std::int64_t /*length*/,
                          std::int64_t* /*tokens*/) const {
  throw missing("tokens");
}

void Dataset::fill_labels(std::span<const std::int64_t> /*indices*/, std::int64_t /*length*/,
                          std::int64_t* /*labels*/) const {
  throw missing("classes or tokens as targets");
}

void Dataset::fill_numbers(std::span<const std::int64_t> /*indices*/, float* /*numbers*/) const {
  throw missing("numbers as targets");
}

ExampleCounts::ExampleCounts(std::vector<Stream> of)
    : total(std::accumulate(of.begin(), of.end(), std::int64_t{0},
                            [](std::int64_t sum, const Stream& stream) { return sum + stream.examples; })),
      streams(std::move(of)) {}

ExampleCounts count_examples(const Dataset& data) {
  return data.streams().empty() ? ExampleCounts(data.size()) : ExampleCounts(data.streams());
}

std::int64_t longest_example(const Dataset& data) {
  if (data.shape().input != ExampleShape::Input::tokens)
    return 0;
  std::int64_t longest = 0;
  std::int64_t length = 0;
  const std::int64_t most = data.shape().dimensions.front();
  for (std::int64_t index = 0; index < data.size() && length < most; ++index) {
    const std::int64_t own = data.layout(std::span(&index, 1)).length;
    if (own > length) {
      length = own;
      longest = index;
    }
  }
  return longest;
}

ExampleShape longest_shape(const Dataset& data) {
  ExampleShape shape = data.shape();
  if (shape.input == ExampleShape::Input::tokens && data.size() > 0) {
    const std::int64_t longest = longest_example(data);
    shape.dimensions.front() = data.layout(std::span(&longest, 1)).length;
  }
  return shape;
}

BatchLayout layout_without_length(std::span<const std::int64_t> indices) {
  const auto count = static_cast<std::int64_t>(indices.size());
  return {.count = count, .length = 1, .loss_terms = count};
}

void TokenRows::fill_tokens(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* tokens) const {
  fill(indices, length, 0, 0, tokens);
}

void TokenRows::fill_labels(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* labels) const {
  fill(indices, length, 1, ignored_target, labels);
}

} // namespace batchscope::data
