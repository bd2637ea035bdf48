#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/data/dataset.h"

namespace batchscope::data {

/// Examples of equal form in host memory: inputs as floats, and a class or a number each.
struct Table {
  std::vector<std::int64_t> dimensions;   ///< of one example: {features}, or {channels, height, width} of an image
  std::vector<float> values;              ///< row-major with the example as the first dimension; finite
  std::vector<std::int64_t> labels;       ///< for classes, else empty
  std::vector<float> numbers;             ///< for a numeric target, else empty
  std::int64_t classes = 0;               ///< 0 for a numeric target
  std::vector<std::string> class_names{}; ///< in the order of their numbers; empty if not known

  std::int64_t width() const; ///< values of one example, at least 1
  std::int64_t rows() const;
};

/// Draws the validation part, and standardizes the values: mean 0 and standard deviation 1 over the training part, for
/// each feature or each channel of the images. One that is constant there becomes 0.
DataSplit split_table(Table table, double validation);

} // namespace batchscope::data
