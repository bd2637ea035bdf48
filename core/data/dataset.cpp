#include "core/data/dataset.h"

#include "core/base/error.h"
#include "core/data/sources.h"

namespace batchscope::data {

namespace {

Error missing(const char* what) {
  return {Error::Kind::failed, std::string("this data set has no ") + what};
}

} // namespace

void Dataset::fill_inputs(std::span<const std::int64_t> /*indices*/, float* /*inputs*/) const {
  throw missing("images or features");
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
