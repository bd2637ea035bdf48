#include "core/data/masked_tokens.h"

#include <algorithm>
#include <numeric>

#include "core/data/hash.h"

namespace batchscope::data {

namespace {

constexpr double masked_share = 0.15;

/// Random numbers that follow from the seed and the example.
class ExampleNumbers {
public:
  ExampleNumbers(std::uint64_t seed, std::int64_t example)
      : state_(mix(mix(seed + golden) ^ (static_cast<std::uint64_t>(example) * golden))) {}
  /// 0 to below - 1.
  std::int64_t next(std::int64_t below) {
    return static_cast<std::int64_t>((mix(state_ += golden) >> 32) * static_cast<std::uint64_t>(below) >> 32);
  }

private:
  std::uint64_t state_;
};

class MaskedTokens final : public Dataset {
public:
  MaskedTokens(std::shared_ptr<const Dataset> text, std::int64_t mask_token, std::uint64_t seed)
      : text_(std::move(text)), mask_token_(mask_token), seed_(seed) {}

  std::int64_t size() const override { return text_->size(); }
  const ExampleShape& shape() const override { return text_->shape(); }
  const std::vector<Stream>& streams() const override { return text_->streams(); }
  const std::vector<char32_t>* vocabulary() const override { return text_->vocabulary(); }

  BatchLayout layout(std::span<const std::int64_t> indices) const override {
    BatchLayout layout = text_->layout(indices);
    layout.loss_terms = 0;
    for (const std::int64_t& index : indices)
      layout.loss_terms += masked_in(length_of(index));
    return layout;
  }

  void fill_tokens(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* tokens) const override {
    text_->fill_tokens(indices, length, tokens);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::int64_t* example = tokens + static_cast<std::int64_t>(i) * length;
      ExampleNumbers numbers(seed_, indices[i]);
      for (const std::int64_t place : places(numbers, length_of(indices[i]))) {
        const std::int64_t tenth = numbers.next(10);
        if (tenth < 8)
          example[place] = mask_token_;
        else if (tenth == 8)
          example[place] = numbers.next(shape().vocabulary);
      }
    }
  }

  /// Checksum of the text: the masks follow from the seed.
  std::optional<std::uint32_t> checksum() const override { return text_->checksum(); }

  /// The tokens that were there, at the places of the masked ones.
  void fill_labels(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* labels) const override {
    std::vector<std::int64_t> tokens(indices.size() * static_cast<std::size_t>(length));
    text_->fill_tokens(indices, length, tokens.data());
    std::fill_n(labels, tokens.size(), ignored_target);
    for (std::size_t i = 0; i < indices.size(); ++i) {
      const std::int64_t first = static_cast<std::int64_t>(i) * length;
      ExampleNumbers numbers(seed_, indices[i]);
      for (const std::int64_t place : places(numbers, length_of(indices[i])))
        labels[first + place] = tokens[static_cast<std::size_t>(first + place)];
    }
  }

private:
  std::int64_t length_of(const std::int64_t& index) const { return text_->layout({&index, 1}).length; }

  static std::int64_t masked_in(std::int64_t length) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(masked_share * static_cast<double>(length) + 0.5));
  }
  /// Different places of an example, drawn without replacement.
  static std::vector<std::int64_t> places(ExampleNumbers& numbers, std::int64_t length) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(length));
    std::iota(all.begin(), all.end(), 0);
    const auto count = static_cast<std::size_t>(masked_in(length));
    for (std::size_t i = 0; i < count; ++i)
      std::swap(all[i], all[i + static_cast<std::size_t>(numbers.next(length - static_cast<std::int64_t>(i)))]);
    all.resize(count);
    return all;
  }

  std::shared_ptr<const Dataset> text_;
  std::int64_t mask_token_;
  std::uint64_t seed_;
};

} // namespace

std::shared_ptr<const Dataset> with_masked_tokens(std::shared_ptr<const Dataset> text, std::int64_t mask_token,
                                                  std::uint64_t seed) {
  return std::make_shared<MaskedTokens>(std::move(text), mask_token, seed);
}

} // namespace batchscope::data
