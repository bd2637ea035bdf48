#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace batchscope::data {

/// The form of a PNG or JPEG image.
struct ImageForm {
  std::int64_t width = 0, height = 0;
  bool color = false;
};

/// Reads only the header. Throws Error (input) naming the file: also for other formats, CMYK colours and more than
/// 2^28 pixels. Any thread.
ImageForm read_image_form(const std::string& path);

/// Decodes an image with 1 (grey) or 3 channels (red, green, blue): pixels row by row, the channels of a pixel
/// together, 8 bits each. A grey image with 3 channels has three equal ones; transparency is ignored. Throws as above,
/// also if the image is damaged or has another form than its header said before. Any thread.
std::vector<std::uint8_t> read_image(const std::string& path, const ImageForm& form, std::int64_t channels);

} // namespace batchscope::data
