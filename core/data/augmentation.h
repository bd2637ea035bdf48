#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/data/dataset.h"

namespace batchscope::data {

/// Random changes of training images.
struct Augmentation {
  bool flip = false;                ///< mirrored left to right, every second time
  std::int64_t shift = 0;           ///< by up to so many pixels in each direction
  std::optional<std::int64_t> crop; ///< side in pixels of the square part that is used
};

/// `none`, or some of `flip`, `shift:PIXELS` and `crop:PIXELS`, separated by commas. Throws Error (input) naming
/// --augment.
Augmentation parse_augmentation(const std::string& text);

/// The same examples with augmentation. Each training image is changed anew in every epoch: the changes are drawn from
/// a hash of seed, epoch and example alone. A shift repeats the pixels at the image's edge. `crop` uses a random part
/// of a training image, and the middle of a validation image, so it sets the size of the images that a model sees;
/// nothing else changes validation examples. Throws Error (input) if the examples are not images, or smaller than asked
/// for.
DataSplit augmented(DataSplit split, const std::string& text);

} // namespace batchscope::data
