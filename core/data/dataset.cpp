#include "core/data/dataset.h"

#include "core/base/error.h"

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

} // namespace batchscope::data
