#pragma once

#include <cstdint>
#include <vector>

namespace batchscope::data {

/// Width and height in pixels.
struct ImageSize {
  std::int64_t width = 0, height = 0;
};

/// Scales an image (pixels row by row, the channels of a pixel together) so that it just covers the size `to`, and cuts
/// what stands out, equally at both sides. Linear interpolation over the area of each pixel, so that shrinking does not
/// skip pixels.
std::vector<std::uint8_t> resized(const std::vector<std::uint8_t>& pixels, ImageSize from, std::int64_t channels,
                                  ImageSize to);

} // namespace batchscope::data
