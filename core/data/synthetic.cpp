// `synthetic:`: examples generated on demand from a hash of their index.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/hash.h"
#include "core/data/sampler.h"
#include "core/data/sources.h"
#include "core/data/split.h"

namespace batchscope::data {

namespace {

constexpr std::int64_t max_classes = 1'000'000;
constexpr std::int64_t max_numbers = std::int64_t{1} << 28; ///< floats in one example
constexpr std::size_t noise_count = 1U << 16;
constexpr std::int64_t max_held_out = 100'000; ///< every evaluation goes through all of them

/// SplitMix64: a sequence of numbers for each example, the same in every run.
class Hash {
public:
  explicit Hash(std::int64_t example) : state_(static_cast<std::uint64_t>(example) * 0xD1342543DE82EF95U + 1) {}

  std::uint64_t next() { return mix(state_ += golden); }
  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(bound));
  }

private:
  std::uint64_t state_;
};

/// Numbers with mean 0 and standard deviation 1, approximately normal: sums of twelve uniform ones.
std::vector<float> make_noise() {
  Hash hash(-1);
  std::vector<float> noise(noise_count);
  for (float& value : noise) {
    double sum = -6;
    for (int i = 0; i < 12; ++i)
      sum += static_cast<double>(hash.next() >> 11) * 0x1p-53;
    value = static_cast<float>(sum);
  }
  return noise;
}

/// A part of the examples: `count` of them, beginning with index `first`.
struct Part {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Images: a grating whose direction, frequency and phase depend on the class. Features: one point per class. Both with
/// added noise, which is read from one table at two offsets given by the hash.
class SyntheticValues : public Dataset {
public:
  SyntheticValues(std::vector<std::int64_t> dimensions, std::int64_t classes, Part part,
                  std::shared_ptr<const std::vector<float>> noise)
      : part_(part), noise_(std::move(noise)) {
    const bool image = dimensions.size() == 3;
    shape_.input = image ? ExampleShape::Input::image : ExampleShape::Input::features;
    shape_.target = ExampleShape::Target::classes;
    shape_.dimensions = std::move(dimensions);
    shape_.classes = classes;
  }

  std::int64_t size() const override { return part_.count; }
  const ExampleShape& shape() const override { return shape_; }
  BatchLayout layout(std::span<const std::int64_t> indices) const override { return layout_without_length(indices); }
  void fill_labels(std::span<const std::int64_t> indices, std::int64_t /*length*/,
                   std::int64_t* labels) const override {
    for (const std::int64_t index : indices)
      *labels++ = Hash(part_.first + index).below(shape_.classes);
  }
  void fill_inputs(std::span<const std::int64_t> indices, float* inputs) const override {
    for (const std::int64_t index : indices) {
      Hash hash(part_.first + index);
      const std::int64_t label = hash.below(shape_.classes);
      float* end = shape_.input == ExampleShape::Input::image ? draw_grating(label, inputs) : draw_point(label, inputs);
      add_noise(hash, inputs, end);
      inputs = end;
    }
  }

private:
  bool is_generated() const override { return true; }
  float* draw_point(std::int64_t label, float* to) const {
    Hash place(-2 - label);
    for (std::int64_t i = 0; i < shape_.dimensions[0]; ++i)
      *to++ = place.next() >> 63 ? 1.0F : -1.0F;
    return to;
  }

  float* draw_grating(std::int64_t label, float* to) const {
    const std::int64_t height = shape_.dimensions[1];
    const std::int64_t width = shape_.dimensions[2];
    const double fraction = static_cast<double>(label) / static_cast<double>(shape_.classes);
    const double angle = std::numbers::pi * fraction;
    const double waves = 2 * std::numbers::pi * (2 + static_cast<double>(label % 3));
    const double across = waves * std::cos(angle) / static_cast<double>(width);
    const double down = waves * std::sin(angle) / static_cast<double>(height);
    // sin(a + b) from two rows of sines, so a pixel costs two products.
    std::vector<float> sines(static_cast<std::size_t>(width));
    std::vector<float> cosines(static_cast<std::size_t>(width));
    for (std::int64_t channel = 0; channel < shape_.dimensions[0]; ++channel) {
      for (std::int64_t x = 0; x < width; ++x) {
        const double phase = across * static_cast<double>(x) + static_cast<double>(channel);
        sines[static_cast<std::size_t>(x)] = static_cast<float>(std::sin(phase));
        cosines[static_cast<std::size_t>(x)] = static_cast<float>(std::cos(phase));
      }
      for (std::int64_t y = 0; y < height; ++y) {
        const auto sine = static_cast<float>(std::sin(down * static_cast<double>(y)));
        const auto cosine = static_cast<float>(std::cos(down * static_cast<double>(y)));
        for (std::size_t x = 0; x < sines.size(); ++x)
          *to++ = sines[x] * cosine + cosines[x] * sine;
      }
    }
    return to;
  }

  void add_noise(Hash& hash, float* from, float* end) const {
    std::size_t first = hash.next() % noise_count;
    std::size_t second = hash.next() % noise_count;
    while (from != end) {
      const std::size_t run =
          std::min({static_cast<std::size_t>(end - from), noise_count - first, noise_count - second});
      const float* one = noise_->data() + first;
      const float* other = noise_->data() + second;
      for (std::size_t i = 0; i < run; ++i)
        from[i] += (one[i] + other[i]) * 0.7F;
      from += run;
      first = (first + run) % noise_count;
      second = (second + run) % noise_count;
    }
  }

  Part part_;
  std::shared_ptr<const std::vector<float>> noise_;
  ExampleShape shape_;
};

/// Rows of tokens: each token is usually followed by the one given by a fixed table, one time in eight by a random one.
class SyntheticTokens : public TokenRows {
public:
  SyntheticTokens(std::int64_t vocabulary, std::int64_t length, Part part,
                  std::shared_ptr<const std::vector<std::int64_t>> followers)
      : part_(part), followers_(std::move(followers)) {
    shape_.input = ExampleShape::Input::tokens;
    shape_.target = ExampleShape::Target::next_token;
    shape_.dimensions = {length};
    shape_.vocabulary = vocabulary;
  }

  std::int64_t size() const override { return part_.count; }
  const ExampleShape& shape() const override { return shape_; }
  BatchLayout layout(std::span<const std::int64_t> indices) const override {
    const auto count = static_cast<std::int64_t>(indices.size());
    return {.count = count, .length = shape_.dimensions[0], .loss_terms = count * shape_.dimensions[0]};
  }

private:
  bool is_generated() const override { return true; }
  void fill(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t ahead, std::int64_t padding,
            std::int64_t* to) const override {
    const std::int64_t used = shape_.dimensions[0];
    for (const std::int64_t index : indices) {
      Hash hash(part_.first + index);
      std::int64_t token = hash.below(shape_.vocabulary);
      for (std::int64_t i = -ahead; i < used; ++i) {
        if (i >= 0)
          to[i] = token;
        const std::uint64_t draw = hash.next();
        token = draw >> 61 == 0 ? hash.below(shape_.vocabulary) : (*followers_)[static_cast<std::size_t>(token)];
      }
      std::fill(to + used, to + length, padding);
      to += length;
    }
  }

  Part part_;
  std::shared_ptr<const std::vector<std::int64_t>> followers_;
  ExampleShape shape_;
};

std::int64_t integer(const SourceText& source, std::string_view key, std::int64_t lowest, std::int64_t highest) {
  const std::string* value = source.find(key);
  if (!value)
    source.refuse(fmt::format("'{}=' is missing; accepted: synthetic:examples=N,shape=CxHxW,classes=K or "
                              "synthetic:examples=N,vocabulary=V",
                              key));
  return parse_integer(*value, fmt::format("data '{}', {}", shortened(source.text), key), lowest, highest);
}

std::vector<std::int64_t> read_shape(const SourceText& source) {
  const std::string& text = *source.find("shape");
  std::vector<std::int64_t> dimensions;
  std::int64_t product = 1;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('x', begin), text.size());
    dimensions.push_back(parse_integer(text.substr(begin, end - begin),
                                       fmt::format("data '{}', shape", shortened(source.text)), 1, max_numbers));
    if (__builtin_mul_overflow(product, dimensions.back(), &product) || product > max_numbers)
      source.refuse(fmt::format("shape {} has more than {} numbers", shortened(text), max_numbers));
    begin = end + 1;
  }
  if (dimensions.size() != 1 && dimensions.size() != 3)
    source.refuse(fmt::format("shape is {}; accepted: CxHxW for images (3x32x32) or one number of features (20)",
                              shortened(text)));
  return dimensions;
}

template <typename Make> DataSplit split_numbers(std::int64_t examples, double fraction, Make make) {
  const std::int64_t validate = std::min(held_out(examples, fraction), max_held_out);
  DataSplit result;
  result.train = make(Part{0, examples - validate});
  if (validate > 0)
    result.validation = make(Part{examples - validate, validate});
  return result;
}

} // namespace

namespace {

DataSplit open_synthetic(const SourceText& source, const DataOptions& options) {
  const std::int64_t examples = integer(source, "examples", 1, std::int64_t{1} << 50);
  if (!source.find("vocabulary") && source.find("shape")) {
    const std::vector<std::int64_t> dimensions = read_shape(source);
    const std::int64_t classes = integer(source, "classes", 2, max_classes);
    const auto noise = std::make_shared<const std::vector<float>>(make_noise());
    return split_numbers(examples, source.validation, [&](Part part) {
      return std::make_shared<SyntheticValues>(dimensions, classes, part, noise);
    });
  }
  const std::int64_t vocabulary = integer(source, "vocabulary", 2, max_classes);
  if (source.find("shape") || source.find("classes"))
    source.refuse("'vocabulary=' cannot be combined with 'shape=' or 'classes='");
  const EpochOrder order(vocabulary, 1, 0);
  std::vector<std::int64_t> followers(static_cast<std::size_t>(vocabulary));
  for (std::int64_t i = 0; i < vocabulary; ++i)
    followers[static_cast<std::size_t>(i)] = order.at(i);
  const auto shared = std::make_shared<const std::vector<std::int64_t>>(std::move(followers));
  return split_numbers(examples, source.validation, [&](Part part) {
    return std::make_shared<SyntheticTokens>(vocabulary, options.context, part, shared);
  });
}

} // namespace

extern const DataKind synthetic_data;
const DataKind synthetic_data{.name = "synthetic",
                              .form = "synthetic:examples=N,shape=CxHxW,classes=K or synthetic:examples=N,vocabulary=V",
                              .keys = {"examples", "shape", "classes", "vocabulary"},
                              .open = open_synthetic};

} // namespace batchscope::data
