#include "core/data/augmentation.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/hash.h"

namespace batchscope::data {

namespace {

constexpr std::int64_t largest_side = 1 << 20;

Error unknown_part(const std::string& part) {
  return input_error(fmt::format("--augment: {} is not accepted; accepted: none, or some of flip, shift:PIXELS and "
                                 "crop:PIXELS, such as flip,shift:2",
                                 in_quotes(part)),
                     "augment");
}

void add_augmentation(Augmentation& all, const std::string& part) {
  const std::size_t colon = part.find(':');
  const std::string name = part.substr(0, colon);
  const auto pixels = [&] {
    if (colon == std::string::npos)
      throw unknown_part(part);
    return parse_integer(std::string_view(part).substr(colon + 1), "--augment " + name, 1, largest_side);
  };
  const auto once = [&](bool given) {
    if (given)
      throw input_error(fmt::format("--augment: {} is given twice", name), "augment");
  };
  if (part == "flip") {
    once(all.flip);
    all.flip = true;
  } else if (name == "shift") {
    once(all.shift > 0);
    all.shift = pixels();
  } else if (name == "crop") {
    once(all.crop.has_value());
    all.crop = pixels();
  } else {
    throw unknown_part(part);
  }
}

/// A part of an image, perhaps mirrored. Pixels outside of it are those of its edge.
struct View {
  std::int64_t left = 0, top = 0;
  bool mirrored = false;
};

class AugmentedImages final : public Dataset {
public:
  AugmentedImages(std::shared_ptr<const Dataset> images, const Augmentation& augmentation)
      : images_(std::move(images)), augmentation_(augmentation), shape_(images_->shape()),
        height_(shape_.dimensions[1]), width_(shape_.dimensions[2]) {
    if (augmentation_.crop)
      shape_.dimensions[1] = shape_.dimensions[2] = *augmentation_.crop;
  }

  std::int64_t size() const override { return images_->size(); }
  const ExampleShape& shape() const override { return shape_; }
  const std::vector<Stream>& streams() const override { return images_->streams(); }
  const std::vector<std::string>* class_names() const override { return images_->class_names(); }
  BatchLayout layout(std::span<const std::int64_t> indices) const override { return images_->layout(indices); }
  void fill_inputs(std::span<const std::int64_t> indices, float* inputs) const override {
    if (!augmentation_.crop)
      return images_->fill_inputs(indices, inputs);
    const View middle{.left = (width_ - width()) / 2, .top = (height_ - height()) / 2};
    fill(
        indices, [&](std::int64_t) { return middle; }, inputs);
  }
  void fill_training_inputs(std::span<const std::int64_t> indices, const AugmentationDraw& draw,
                            float* inputs) const override {
    fill(
        indices, [&](std::int64_t index) { return drawn(draw, index); }, inputs);
  }
  void fill_labels(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* labels) const override {
    images_->fill_labels(indices, length, labels);
  }
  void fill_numbers(std::span<const std::int64_t> indices, float* numbers) const override {
    images_->fill_numbers(indices, numbers);
  }
  std::optional<std::uint32_t> checksum() const override { return images_->checksum(); }

private:
  std::int64_t height() const { return shape_.dimensions[1]; } ///< of a view
  std::int64_t width() const { return shape_.dimensions[2]; }

  View drawn(const AugmentationDraw& draw, std::int64_t index) const {
    // Hashed in sequence, as for the order of an epoch: a sum would give neighbouring seeds the same draws.
    std::uint64_t state = mix(mix(mix(draw.seed + golden) ^ static_cast<std::uint64_t>(draw.epoch) * golden) ^
                              static_cast<std::uint64_t>(index) * golden);
    const auto below = [&](std::int64_t bound) {
      return static_cast<std::int64_t>(mix(state += golden) % static_cast<std::uint64_t>(bound));
    };
    const std::int64_t shift = augmentation_.shift;
    View view;
    view.left = below(width_ - width() + 2 * shift + 1) - shift;
    view.top = below(height_ - height() + 2 * shift + 1) - shift;
    view.mirrored = augmentation_.flip && below(2) == 1;
    return view;
  }

  template <typename ViewOf> void fill(std::span<const std::int64_t> indices, const ViewOf& view_of, float* to) const {
    const std::int64_t channels = shape_.dimensions[0];
    std::vector<float> image(static_cast<std::size_t>(channels * height_ * width_));
    std::vector<std::int64_t> columns(static_cast<std::size_t>(width())); // of the image, from left to right
    for (const std::int64_t index : indices) {
      images_->fill_inputs(std::span(&index, 1), image.data());
      const View view = view_of(index);
      for (std::int64_t x = 0; x < width(); ++x)
        columns[static_cast<std::size_t>(view.mirrored ? width() - 1 - x : x)] =
            std::clamp<std::int64_t>(view.left + x, 0, width_ - 1);
      for (std::int64_t channel = 0; channel < channels; ++channel)
        for (std::int64_t y = 0; y < height(); ++y) {
          const std::int64_t row = std::clamp<std::int64_t>(view.top + y, 0, height_ - 1);
          const float* from = image.data() + (channel * height_ + row) * width_;
          for (const std::int64_t column : columns)
            *to++ = from[column];
        }
    }
  }

  std::shared_ptr<const Dataset> images_;
  Augmentation augmentation_;
  ExampleShape shape_;
  std::int64_t height_, width_; ///< of the whole images
};

void check_augmentation(const ExampleShape& shape, const Augmentation& augmentation, const std::string& text) {
  if (shape.input != ExampleShape::Input::image)
    throw input_error(fmt::format("--augment: {} changes images, and the data has {}; accepted: none", in_quotes(text),
                                  shape.input == ExampleShape::Input::tokens ? "text" : "rows of numbers"),
                      "augment");
  const std::int64_t side = std::min(shape.dimensions[1], shape.dimensions[2]);
  if (augmentation.crop.value_or(1) > side || augmentation.shift >= side)
    throw input_error(fmt::format("--augment: {} is too large for images of {}x{} pixels; accepted: crop up to {}, "
                                  "shift below it",
                                  in_quotes(text), shape.dimensions[2], shape.dimensions[1], side),
                      "augment");
}

} // namespace

Augmentation parse_augmentation(const std::string& text) {
  Augmentation all;
  if (text == "none")
    return all;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    add_augmentation(all, text.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

DataSplit augmented(DataSplit split, const std::string& text) {
  const Augmentation augmentation = parse_augmentation(text);
  if (text == "none")
    return split;
  check_augmentation(split.train->shape(), augmentation, text);
  split.train = std::make_shared<AugmentedImages>(split.train, augmentation);
  if (split.validation)
    split.validation = std::make_shared<AugmentedImages>(split.validation, augmentation);
  return split;
}

} // namespace batchscope::data
