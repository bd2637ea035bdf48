// Several streams as one data set: the examples of the first, then those of the next.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/crc32c.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/data/sources.h"

namespace batchscope::data {

namespace {

struct MixedPart {
  std::shared_ptr<const Dataset> data;
  std::int64_t first = 0;           ///< index of its first example
  std::vector<std::int64_t> tokens; ///< its tokens in the common vocabulary; empty if they are the same
};

class MixedStreams final : public Dataset {
public:
  MixedStreams(std::vector<MixedPart> parts, std::vector<Stream> streams, ExampleShape shape,
               std::vector<char32_t> vocabulary)
      : parts_(std::move(parts)), streams_(std::move(streams)), shape_(std::move(shape)),
        vocabulary_(std::move(vocabulary)), numbers_(std::accumulate(shape_.dimensions.begin(), shape_.dimensions.end(),
                                                                     std::int64_t{1}, std::multiplies<>())) {}

  std::int64_t size() const override { return parts_.back().first + parts_.back().data->size(); }
  const ExampleShape& shape() const override { return shape_; }
  const std::vector<Stream>& streams() const override { return streams_; }
  const std::vector<char32_t>* vocabulary() const override { return vocabulary_.empty() ? nullptr : &vocabulary_; }

  BatchLayout layout(std::span<const std::int64_t> indices) const override {
    BatchLayout all;
    each_run(indices, [&](const MixedPart& part, std::span<const std::int64_t> own, std::int64_t /*before*/) {
      const BatchLayout layout = part.data->layout(own);
      all.count += layout.count;
      all.length = std::max(all.length, layout.length);
      all.loss_terms += layout.loss_terms;
    });
    return all;
  }
  void fill_inputs(std::span<const std::int64_t> indices, float* inputs) const override {
    each_run(indices, [&](const MixedPart& part, std::span<const std::int64_t> own, std::int64_t before) {
      part.data->fill_inputs(own, inputs + before * numbers_);
    });
  }
  void fill_tokens(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* tokens) const override {
    each_run(indices, [&](const MixedPart& part, std::span<const std::int64_t> own, std::int64_t before) {
      part.data->fill_tokens(own, length, tokens + before * length);
      translate(part, own.size(), length, tokens + before * length);
    });
  }
  void fill_labels(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* labels) const override {
    const std::int64_t per_example = shape_.target == ExampleShape::Target::next_token ? length : 1;
    each_run(indices, [&](const MixedPart& part, std::span<const std::int64_t> own, std::int64_t before) {
      part.data->fill_labels(own, length, labels + before * per_example);
      if (shape_.target == ExampleShape::Target::next_token)
        translate(part, own.size(), length, labels + before * length);
    });
  }
  void fill_numbers(std::span<const std::int64_t> indices, float* numbers) const override {
    each_run(indices, [&](const MixedPart& part, std::span<const std::int64_t> own, std::int64_t before) {
      part.data->fill_numbers(own, numbers + before);
    });
  }

private:
  /// Calls `work` for each run of examples of one stream, with their indices in it and the number of examples before.
  template <typename Work> void each_run(std::span<const std::int64_t> indices, const Work& work) const {
    std::vector<std::int64_t> own;
    for (std::size_t from = 0; from < indices.size(); from += own.size()) {
      const MixedPart& part = part_of(indices[from]);
      own.clear();
      for (std::size_t i = from; i < indices.size() && &part_of(indices[i]) == &part; ++i)
        own.push_back(indices[i] - part.first);
      work(part, own, static_cast<std::int64_t>(from));
    }
  }

  const MixedPart& part_of(std::int64_t index) const {
    return *std::prev(std::upper_bound(parts_.begin(), parts_.end(), index,
                                       [](std::int64_t value, const MixedPart& part) { return value < part.first; }));
  }

  static void translate(const MixedPart& part, std::size_t count, std::int64_t length, std::int64_t* tokens) {
    if (part.tokens.empty())
      return;
    for (std::int64_t* token = tokens; token < tokens + static_cast<std::int64_t>(count) * length; ++token)
      if (*token != ignored_target)
        *token = part.tokens[static_cast<std::size_t>(*token)];
  }

  bool is_generated() const override {
    return std::none_of(parts_.begin(), parts_.end(), [](const MixedPart& part) { return part.data->checksum(); });
  }
  /// From those of the streams; generated ones may be endless, and the data's text determines them.
  std::uint32_t compute_checksum() const override {
    std::uint32_t crc = 0;
    for (const MixedPart& part : parts_) {
      const std::uint32_t own = part.data->checksum().value_or(0);
      crc = crc32c({reinterpret_cast<const char*>(&own), sizeof own}, crc);
    }
    return crc;
  }

  std::vector<MixedPart> parts_;
  std::vector<Stream> streams_;
  ExampleShape shape_;
  std::vector<char32_t> vocabulary_;
  std::int64_t numbers_;
};

std::string form_of(const Dataset& data) {
  const ExampleShape& shape = data.shape();
  std::string text;
  if (shape.input == ExampleShape::Input::tokens)
    text = data.vocabulary() ? "characters" : fmt::format("tokens of a vocabulary of {}", shape.vocabulary);
  else
    text = fmt::format("{} {}", shape.input == ExampleShape::Input::image ? "images" : "features",
                       fmt::join(shape.dimensions, "x"));
  if (shape.target == ExampleShape::Target::classes)
    text += fmt::format(", {} classes", shape.classes);
  if (const auto* names = data.class_names(); names && !names->empty())
    text += " (" + shortened(fmt::format("{}", fmt::join(*names, ", "))) + ")";
  return text + (shape.target == ExampleShape::Target::number ? ", a number as target" : "");
}

void check_same_form(const std::vector<StreamData>& streams) {
  const std::string form = form_of(*streams.front().split.train);
  for (const StreamData& stream : streams)
    if (const std::string own = form_of(*stream.split.train); own != form)
      throw input_error(
          fmt::format("data: the streams {} and {} cannot be mixed: {} has {}, {} has {}; accepted: the same "
                      "shape and classes in all streams",
                      streams.front().name, stream.name, streams.front().name, form, stream.name, own));
}

std::vector<char32_t> common_vocabulary(const std::vector<StreamData>& streams) {
  std::vector<char32_t> all;
  for (const StreamData& stream : streams)
    if (const auto* own = stream.split.train->vocabulary())
      all.insert(all.end(), own->begin(), own->end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::vector<std::int64_t> numbers_in(const std::vector<char32_t>& all, const std::vector<char32_t>& own) {
  std::vector<std::int64_t> numbers;
  for (const char32_t character : own)
    numbers.push_back(std::lower_bound(all.begin(), all.end(), character) - all.begin());
  return numbers;
}

/// One of the two data sets of all streams; null if no stream has it.
std::shared_ptr<const Dataset> mixed(const std::vector<StreamData>& streams, const std::vector<char32_t>& vocabulary,
                                     std::shared_ptr<const Dataset> DataSplit::*which) {
  std::vector<MixedPart> parts;
  std::vector<Stream> named;
  ExampleShape shape = streams.front().split.train->shape();
  std::int64_t first = 0;
  for (const StreamData& stream : streams) {
    const auto& data = stream.split.*which;
    if (shape.input == ExampleShape::Input::tokens)
      shape.dimensions.front() = std::max(shape.dimensions.front(), stream.split.train->shape().dimensions.front());
    if (!data || data->size() == 0)
      continue;
    const auto* own = data->vocabulary();
    parts.push_back({data, first, own ? numbers_in(vocabulary, *own) : std::vector<std::int64_t>()});
    named.push_back({stream.name, data->size()});
    first += data->size();
  }
  if (parts.empty())
    return nullptr;
  if (!vocabulary.empty())
    shape.vocabulary = static_cast<std::int64_t>(vocabulary.size());
  shape.streams = static_cast<std::int64_t>(parts.size());
  return std::make_shared<MixedStreams>(std::move(parts), std::move(named), std::move(shape), vocabulary);
}

} // namespace

DataSplit mix_streams(const std::vector<StreamData>& streams) {
  check_same_form(streams);
  const std::vector<char32_t> vocabulary = common_vocabulary(streams);
  return {.train = mixed(streams, vocabulary, &DataSplit::train),
          .validation = mixed(streams, vocabulary, &DataSplit::validation)};
}

} // namespace batchscope::data
