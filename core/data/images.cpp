// `idx:` and `demo`: 8-bit grey images with one class each, kept in memory as bytes.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numeric>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/resources.h"
#include "core/data/input_file.h"
#include "core/data/sources.h"
#include "core/data/split.h"

namespace batchscope::data {

namespace {

constexpr std::uint32_t image_magic = 0x803; // unsigned bytes, three dimensions
constexpr std::uint32_t label_magic = 0x801; // unsigned bytes, one dimension

struct Images {
  std::int64_t count = 0;
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::vector<std::uint8_t> pixels;
  std::vector<std::uint8_t> labels;

  std::int64_t size() const { return height * width; }
};

class ImageDataset : public Dataset {
public:
  ImageDataset(std::shared_ptr<const Images> images, std::vector<std::int64_t> rows, double mean, double deviation,
               std::int64_t classes)
      : images_(std::move(images)), rows_(std::move(rows)), scale_(static_cast<float>(1 / (255 * deviation))),
        shift_(static_cast<float>(-mean / deviation)) {
    shape_.input = ExampleShape::Input::image;
    shape_.target = ExampleShape::Target::classes;
    shape_.dimensions = {1, images_->height, images_->width};
    shape_.classes = classes;
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(rows_.size()); }
  const ExampleShape& shape() const override { return shape_; }
  BatchLayout layout(std::span<const std::int64_t> indices) const override { return layout_without_length(indices); }

  void fill_inputs(std::span<const std::int64_t> indices, float* inputs) const override {
    const std::int64_t size = images_->size();
    const float scale = scale_;
    const float shift = shift_;
    for (const std::int64_t index : indices) {
      const std::uint8_t* __restrict from = images_->pixels.data() + rows_[static_cast<std::size_t>(index)] * size;
      float* __restrict to = inputs;
      for (std::int64_t i = 0; i < size; ++i)
        to[i] = static_cast<float>(from[i]) * scale + shift;
      inputs += size;
    }
  }

  void fill_labels(std::span<const std::int64_t> indices, std::int64_t /*length*/,
                   std::int64_t* labels) const override {
    for (const std::int64_t index : indices)
      *labels++ = images_->labels[static_cast<std::size_t>(rows_[static_cast<std::size_t>(index)])];
  }

private:
  std::shared_ptr<const Images> images_;
  std::vector<std::int64_t> rows_; ///< of this part, as indices of all images
  float scale_;
  float shift_;
  ExampleShape shape_;
};

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

void read_pixels(const std::string& path, Images& images) {
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

void read_labels(const std::string& path, Images& images) {
  InputFile file(path);
  const std::int64_t count = read_header(file, 2, label_magic, "labels")[1];
  if (count != images.count)
    file.refuse(fmt::format("the header at offset 4 says {} labels, but there are {} images", count, images.count));
  images.labels = file.read(static_cast<std::uint64_t>(count), fmt::format("{} labels", count));
  file.expect_end("the last label");
}

DataSplit split_images(Images read, double fraction) {
  const auto images = std::make_shared<const Images>(std::move(read));
  Split split = draw_split(images->count, fraction);
  std::array<std::int64_t, 256> histogram{};
  for (const std::int64_t row : split.train)
    for (std::int64_t i = 0; i < images->size(); ++i)
      ++histogram[images->pixels[static_cast<std::size_t>(row * images->size() + i)]];
  const auto pixels = static_cast<double>(split.train.size()) * static_cast<double>(images->size());
  double mean = 0;
  for (std::size_t value = 0; value < 256; ++value)
    mean += static_cast<double>(value) / 255 * static_cast<double>(histogram[value]) / pixels;
  double variance = 0;
  for (std::size_t value = 0; value < 256; ++value)
    variance += std::pow(static_cast<double>(value) / 255 - mean, 2) * static_cast<double>(histogram[value]) / pixels;
  // Images of a single grey value stay 0 instead of becoming infinite.
  const double deviation = variance > 1e-12 ? std::sqrt(variance) : 1;
  const std::int64_t highest = *std::max_element(images->labels.begin(), images->labels.end());
  const std::int64_t classes = std::max<std::int64_t>(highest + 1, 2);

  DataSplit result;
  result.train = std::make_shared<ImageDataset>(images, std::move(split.train), mean, deviation, classes);
  if (!split.validation.empty())
    result.validation = std::make_shared<ImageDataset>(images, std::move(split.validation), mean, deviation, classes);
  return result;
}

DataSplit open_images(const std::string& pixels, const std::string& labels, double fraction) {
  Images images;
  read_pixels(pixels, images);
  read_labels(labels, images);
  return split_images(std::move(images), fraction);
}

} // namespace

namespace {

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
