#include "core/data/byte_images.h"

#include <array>
#include <cmath>

#include "core/data/sources.h"

namespace batchscope::data {

namespace {

/// The input for a byte v is v * factor + shift.
struct Scale {
  float factor = 0;
  float shift = 0;
};

class ImageDataset : public Dataset {
public:
  ImageDataset(std::shared_ptr<const ByteImages> images, std::vector<std::int64_t> rows, std::vector<Scale> scales)
      : images_(std::move(images)), rows_(std::move(rows)), scales_(std::move(scales)) {
    shape_.input = ExampleShape::Input::image;
    shape_.target = ExampleShape::Target::classes;
    shape_.dimensions = {images_->channels, images_->height, images_->width};
    shape_.classes = images_->classes;
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(rows_.size()); }
  const ExampleShape& shape() const override { return shape_; }
  const std::vector<std::string>* class_names() const override { return &images_->class_names; }
  BatchLayout layout(std::span<const std::int64_t> indices) const override { return layout_without_length(indices); }

  void fill_inputs(std::span<const std::int64_t> indices, float* inputs) const override {
    const std::int64_t area = images_->height * images_->width;
    for (const std::int64_t index : indices) {
      const std::uint8_t* image = images_->pixels.data() + rows_[static_cast<std::size_t>(index)] * images_->size();
      for (const auto [factor, shift] : scales_) {
        const std::uint8_t* __restrict from = image;
        float* __restrict to = inputs;
        for (std::int64_t i = 0; i < area; ++i)
          to[i] = static_cast<float>(from[i]) * factor + shift;
        image += area;
        inputs += area;
      }
    }
  }

  void fill_labels(std::span<const std::int64_t> indices, std::int64_t /*length*/,
                   std::int64_t* labels) const override {
    for (const std::int64_t index : indices)
      *labels++ = images_->labels[static_cast<std::size_t>(rows_[static_cast<std::size_t>(index)])];
  }

private:
  std::shared_ptr<const ByteImages> images_;
  std::vector<std::int64_t> rows_; ///< of this part, as indices of all images
  std::vector<Scale> scales_;      ///< of each channel
  ExampleShape shape_;
};

/// From the training images (`rows`).
Scale scale_of(const ByteImages& images, std::int64_t channel, const std::vector<std::int64_t>& rows) {
  const std::int64_t area = images.height * images.width;
  std::array<std::int64_t, 256> histogram{};
  for (const std::int64_t row : rows) {
    const std::uint8_t* from = images.pixels.data() + row * images.size() + channel * area;
    for (std::int64_t i = 0; i < area; ++i)
      ++histogram[from[i]];
  }
  const auto pixels = static_cast<double>(rows.size()) * static_cast<double>(area);
  double mean = 0;
  for (std::size_t value = 0; value < 256; ++value)
    mean += static_cast<double>(value) / 255 * static_cast<double>(histogram[value]) / pixels;
  double variance = 0;
  for (std::size_t value = 0; value < 256; ++value)
    variance += std::pow(static_cast<double>(value) / 255 - mean, 2) * static_cast<double>(histogram[value]) / pixels;
  // Images of a single grey value stay 0 instead of becoming infinite.
  const double deviation = variance > 1e-12 ? std::sqrt(variance) : 1;
  return {static_cast<float>(1 / (255 * deviation)), static_cast<float>(-mean / deviation)};
}

} // namespace

DataSplit split_images(ByteImages read, Split split) {
  const auto images = std::make_shared<const ByteImages>(std::move(read));
  std::vector<Scale> scales;
  for (std::int64_t channel = 0; channel < images->channels; ++channel)
    scales.push_back(scale_of(*images, channel, split.train));
  DataSplit result;
  result.train = std::make_shared<ImageDataset>(images, std::move(split.train), scales);
  if (!split.validation.empty())
    result.validation = std::make_shared<ImageDataset>(images, std::move(split.validation), scales);
  return result;
}

} // namespace batchscope::data
