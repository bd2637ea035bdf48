#include "core/data/resize.h"

#include <algorithm>
#include <cmath>

namespace batchscope::data {

namespace {

/// The pixels of a line of which a new one is made, and the weight of each; the weights add up to 1.
struct Mixture {
  std::int64_t first = 0;
  std::vector<float> weights;
};

/// For `to` new pixels from the middle `used` of `from` pixels.
std::vector<Mixture> mixtures(std::int64_t from, double used, std::int64_t to) {
  const double scale = used / static_cast<double>(to);
  const double reach = std::max(scale, 1.0); // of the triangle around the middle of a new pixel
  const double begin = (static_cast<double>(from) - used) / 2;
  std::vector<Mixture> all;
  for (std::int64_t i = 0; i < to; ++i) {
    const double middle = begin + (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(middle - reach)));
    const auto end = std::min(from, static_cast<std::int64_t>(std::ceil(middle + reach)));
    Mixture mixture{.first = first, .weights = {}};
    double sum = 0;
    for (std::int64_t pixel = first; pixel < end; ++pixel) {
      const double weight = std::max(0.0, 1 - std::abs(static_cast<double>(pixel) + 0.5 - middle) / reach);
      mixture.weights.push_back(static_cast<float>(weight));
      sum += weight;
    }
    for (float& weight : mixture.weights)
      weight = static_cast<float>(weight / sum);
    all.push_back(std::move(mixture));
  }
  return all;
}

} // namespace

std::vector<std::uint8_t> resized(const std::vector<std::uint8_t>& pixels, ImageSize from, std::int64_t channels,
                                  ImageSize to) {
  const double shrink = std::min(static_cast<double>(from.width) / static_cast<double>(to.width),
                                 static_cast<double>(from.height) / static_cast<double>(to.height));
  const auto columns = mixtures(from.width, shrink * static_cast<double>(to.width), to.width);
  const auto rows = mixtures(from.height, shrink * static_cast<double>(to.height), to.height);
  const std::int64_t line = to.width * channels;
  std::vector<float> across(static_cast<std::size_t>(from.height * line)); // all rows, resized in width
  for (std::int64_t y = 0; y < from.height; ++y)
    for (std::int64_t x = 0; x < to.width; ++x)
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const Mixture& mixture = columns[static_cast<std::size_t>(x)];
        const std::uint8_t* pixel = pixels.data() + (y * from.width + mixture.first) * channels + channel;
        float sum = 0;
        for (const float weight : mixture.weights) {
          sum += weight * static_cast<float>(*pixel);
          pixel += channels;
        }
        across[static_cast<std::size_t>(y * line + x * channels + channel)] = sum;
      }
  std::vector<std::uint8_t> result;
  result.reserve(static_cast<std::size_t>(to.height * line));
  std::vector<float> sums(static_cast<std::size_t>(line));
  for (const Mixture& mixture : rows) {
    std::fill(sums.begin(), sums.end(), 0.0F);
    const float* row = across.data() + mixture.first * line;
    for (const float weight : mixture.weights) {
      for (std::int64_t i = 0; i < line; ++i)
        sums[static_cast<std::size_t>(i)] += weight * row[i];
      row += line;
    }
    for (const float sum : sums)
      result.push_back(static_cast<std::uint8_t>(std::clamp(std::lround(sum), 0L, 255L)));
  }
  return result;
}

} // namespace batchscope::data
