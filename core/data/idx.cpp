// `idx:` and `demo`: 8-bit grey images with one class each.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/resources.h"
#include "core/data/byte_images.h"
#include "core/data/input_file.h"
#include "core/data/sources.h"

namespace batchscope::data {

namespace {

constexpr std::uint32_t image_magic = 0x803; // unsigned bytes, three dimensions
constexpr std::uint32_t label_magic = 0x801; // unsigned bytes, one dimension

/// Reads `count` big-endian 32-bit numbers; the first must be the magic number.
std::vector<std::int64_t> read_header(InputFile& file, std::size_t count, std::uint32_t magic, const char* what) {
  const std::vector<std::uint8_t> bytes = file.read(count * 4, "the header");
  std::vector<std::int64_t> numbers;
  for (std::size_t i = 0; i < count; ++i)
    numbers.push_back(std::int64_t{bytes[4 * i]} << 24 | std::int64_t{bytes[4 * i + 1]} << 16 |
                      std::int64_t{bytes[4 * i + 2]} << 8 | std::int64_t{bytes[4 * i + 3]});
  if (numbers[0] != magic)
    file.refuse(
        fmt::format("the magic number at offset 0 is 0x{:08x}; IDX {} start with 0x{:08x}", numbers[0], what, magic));
  return numbers;
}

void read_pixels(const std::string& path, ByteImages& images) {
  InputFile file(path);
  const std::vector<std::int64_t> header = read_header(file, 4, image_magic, "images");
  images.count = header[1];
  images.height = header[2];
  images.width = header[3];
  if (images.count == 0 || images.height == 0 || images.width == 0)
    file.refuse(fmt::format("the header at offset 4 says {} images of {} x {} pixels; none may be 0", images.count,
                            images.height, images.width));
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(images.height, images.width, &bytes) ||
      __builtin_mul_overflow(images.count, bytes, &bytes))
    file.refuse(fmt::format("the header at offset 4 says {} images of {} x {} pixels, which is too large", images.count,
                            images.height, images.width));
  images.pixels = file.read(static_cast<std::uint64_t>(bytes),
                            fmt::format("{} images of {} x {} pixels", images.count, images.height, images.width));
  file.expect_end("the last image");
}

void read_labels(const std::string& path, ByteImages& images) {
  InputFile file(path);
  const std::int64_t count = read_header(file, 2, label_magic, "labels")[1];
  if (count != images.count)
    file.refuse(fmt::format("the header at offset 4 says {} labels, but there are {} images", count, images.count));
  const std::vector<std::uint8_t> bytes = file.read(static_cast<std::uint64_t>(count), fmt::format("{} labels", count));
  images.labels.assign(bytes.begin(), bytes.end());
  images.classes = std::max<std::int64_t>(*std::max_element(bytes.begin(), bytes.end()) + 1, 2);
  file.expect_end("the last label");
}

DataSplit open_images(const std::string& pixels, const std::string& labels, double fraction) {
  ByteImages images;
  read_pixels(pixels, images);
  read_labels(labels, images);
  return split_images(std::move(images), fraction);
}

DataSplit open_idx(const SourceText& source, const DataOptions& /*options*/) {
  return open_images(source.files[0], source.files[1], source.validation);
}

} // namespace

extern const DataKind idx_data;
const DataKind idx_data{.name = "idx", .form = "idx:IMAGES,LABELS", .files = 2, .open = open_idx};

namespace {

DataSplit open_demo(const SourceText& source, const DataOptions& /*options*/) {
  const std::filesystem::path folder = resources_folder();
  return open_images(folder / "demo" / "t10k-images-idx3-ubyte.gz", folder / "demo" / "t10k-labels-idx1-ubyte.gz",
                     source.validation);
}

} // namespace

extern const DataKind demo_data;
const DataKind demo_data{.name = "demo", .form = "demo", .open = open_demo};

} // namespace batchscope::data
