#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/split.h"

namespace batchscope::data {

/// Images of equal size with one class each, kept as bytes.
struct ByteImages {
  std::int64_t count = 0;
  std::int64_t channels = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::uint8_t> pixels;       ///< count * size(), each image by channel, row and column
  std::vector<std::int64_t> labels;       ///< 0..classes-1
  std::int64_t classes = 0;               ///< at least 2
  std::vector<std::string> class_names{}; ///< in the order of their numbers; empty if not known

  std::int64_t size() const { return channels * height * width; }
};

/// Inputs are (v/255 - mean)/std with the training part's mean and std of each channel.
DataSplit split_images(ByteImages images, Split split);

} // namespace batchscope::data
