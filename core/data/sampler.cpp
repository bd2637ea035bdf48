#include "core/data/sampler.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.h"

namespace batchscope::data {

namespace {

/// Limit of a step's takes, so that a mistake in the options cannot allocate gigabytes.
constexpr std::int64_t max_takes = 16'777'216;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

void reserve_takes(StepTakes& step, std::int64_t micro_batches) {
  if (micro_batches > max_takes / step.ranks)
    throw input_error(
        fmt::format("a step would have {} micro batches on each of {} ranks; accepted: at most {} on all ranks",
                    micro_batches, step.ranks, max_takes));
  step.takes.reserve(static_cast<std::size_t>(micro_batches * step.ranks));
}

/// Adds one micro batch of `count` examples; the ranks from `favoured` on get the remainder.
void add_micro_batch(StepTakes& step, std::int64_t count, std::int64_t favoured) {
  const std::int64_t per_rank = count / step.ranks;
  const std::int64_t extra = count % step.ranks;
  for (std::int64_t rank = 0; rank < step.ranks; ++rank) {
    const std::int64_t turn = (rank - favoured + step.ranks) % step.ranks;
    step.takes.push_back(per_rank + (turn < extra ? 1 : 0));
  }
  step.examples += count;
}

/// Adds micro batches of `batch` examples on every rank. Takes a smaller remainder of the epoch (`left`) as it is,
/// unless the tail is dropped; never exceeds `available` (what is left, or less if the run ends first).
void take_accumulated(StepTakes& step, std::int64_t batch, std::int64_t left, std::int64_t available, bool drop_last) {
  const std::int64_t whole = batch * step.ranks;
  reserve_takes(step, std::min(step.accumulate, divide_up(available, whole)));
  for (std::int64_t i = 0; i < step.accumulate && step.examples < available; ++i) {
    if (drop_last && left - step.examples < whole)
      break;
    add_micro_batch(step, std::min(whole, available - step.examples), 0);
  }
}

/// Splits `count` examples into the fewest micro batches of at most `batch` per rank, as even as possible.
void take_evenly(StepTakes& step, std::int64_t batch, std::int64_t count) {
  const std::int64_t micro_batches = divide_up(count, batch * step.ranks);
  reserve_takes(step, micro_batches);
  std::int64_t favoured = 0;
  for (std::int64_t i = 0; i < micro_batches; ++i) {
    const std::int64_t size = count / micro_batches + (i < count % micro_batches ? 1 : 0);
    add_micro_batch(step, size, favoured);
    favoured = (favoured + size % step.ranks) % step.ranks;
  }
}

void require(bool holds, const char* name, std::int64_t given, std::int64_t lowest, std::int64_t highest) {
  if (!holds)
    throw input_error(fmt::format("{} is {}; accepted: {} to {}", name, given, lowest, highest));
}

void check_shares(const SamplerOptions& options, const std::vector<std::int64_t>& shares) {
  std::int64_t sum = 0;
  bool in_range = shares.size() == options.streams.size();
  for (const std::int64_t share : shares) {
    in_range = in_range && share >= 0 && share <= share_unit;
    sum += in_range ? share : 0;
  }
  if (!in_range || sum != share_unit || shares[options.clock] == 0)
    throw input_error("the shares of a step; accepted: one for each stream, above 0 for the clock, with the sum 1");
}

/// Examples of the largest step that an epoch holds, whatever the shares.
std::int64_t largest_step(const SamplerOptions& options) {
  if (options.streams.empty())
    return options.examples;
  std::vector<std::int64_t> shares(options.streams.size(), 0);
  shares[options.clock] = options.largest_clock_share;
  return std::min(options.examples, StreamMixer(shares, options.clock).capacity(epoch_size(options)));
}

void check_streams(const SamplerOptions& options) {
  std::int64_t sum = 0;
  for (const Stream& stream : options.streams) {
    if (stream.examples < 1)
      throw input_error(fmt::format("stream {} has {} examples; accepted: at least 1", stream.name, stream.examples));
    sum += stream.examples;
  }
  if (sum != options.examples || options.clock >= options.streams.size())
    throw input_error(fmt::format("{} streams with {} examples, clock {}, for {} examples", options.streams.size(), sum,
                                  options.clock, options.examples));
  check_shares(options, options.shares);
  if (options.largest_clock_share < options.shares[options.clock] || options.largest_clock_share > share_unit)
    throw input_error("the largest share of the clock is below its first one, or above 1");
}

} // namespace

Sampler::Sampler(const SamplerOptions& options) : options_(options), epoch_size_(data::epoch_size(options)) {
  if (options.examples < 1)
    throw input_error(fmt::format("{} examples: an epoch needs at least one", options.examples));
  require(options.ranks >= 1 && options.ranks <= max_takes, "the number of data-parallel ranks", options.ranks, 1,
          max_takes);
  if (options.accumulate < 1)
    throw input_error(fmt::format("accumulate is {}; accepted: 1 or more", options.accumulate));
  if (!options.streams.empty()) {
    check_streams(options);
    mixer_ = StreamMixer(options.shares, options.clock);
    seen_.resize(options.streams.size(), 0);
  }
  if (options.effective_batch)
    require(*options.effective_batch >= 1 && *options.effective_batch <= largest_step(options), "effective batch",
            *options.effective_batch, 1, largest_step(options));
}

void Sampler::set_shares(const std::vector<std::int64_t>& shares) {
  check_shares(options_, shares);
  mixer_.set_shares(shares);
}

/// Examples that steps can still take in the epoch after `position` examples of it.
std::int64_t Sampler::left_after(std::int64_t position) const {
  const std::int64_t left = epoch_size_ - position;
  return mixer_.empty() ? left : mixer_.capacity(left);
}

std::int64_t Sampler::smallest_step(std::int64_t batch) const {
  if (!options_.drop_last)
    return 1;
  return options_.effective_batch.value_or(batch * options_.ranks);
}

bool Sampler::begins_epoch(std::int64_t batch) const {
  return position_ == 0 || left_after(position_) < smallest_step(batch);
}

void Sampler::go_to(const Position& position) {
  require(position.in_epoch >= 0 && position.in_epoch <= epoch_size_, "the position in the epoch", position.in_epoch, 0,
          epoch_size_);
  if (position.streams.size() != seen_.size() || position.carried.size() != seen_.size())
    throw input_error(fmt::format("a position in {} streams; accepted: {}", position.streams.size(), seen_.size()));
  if (position.epoch_index < 0 || position.seen_in_total < position.in_epoch)
    throw input_error(fmt::format("epoch {} after {} examples is no position of a run", position.epoch_index,
                                  position.seen_in_total));
  epoch_index_ = position.epoch_index;
  position_ = position.in_epoch;
  seen_in_total_ = position.seen_in_total;
  seen_ = position.streams;
  mixer_.set_carried(position.carried);
}

/// Divides a step, whose examples are counted, among the streams.
void Sampler::take_streams(StepTakes& step) {
  const std::vector<std::int64_t> counts = mixer_.split(step.examples, epoch_size_ - step.first);
  for (std::size_t stream = 0; stream < counts.size(); ++stream) {
    const std::int64_t size = options_.streams[stream].examples;
    const bool clock = stream == options_.clock;
    StreamTake take;
    take.count = counts[stream];
    take.epoch_index = clock ? step.epoch_index : seen_[stream] / size;
    take.first = clock ? step.first : seen_[stream] % size;
    seen_[stream] += take.count;
    take.seen_in_total = seen_[stream];
    const std::int64_t after = take.first + take.count;
    take.seen_in_epoch = after == 0 ? 0 : (after - 1) % size + 1;
    step.streams.push_back(take);
  }
}

StepTakes Sampler::next(std::int64_t batch, std::optional<std::int64_t> limit) {
  const std::int64_t largest = largest_batch(options_);
  require(batch >= 1 && batch <= largest, "batch", batch, 1, largest);
  if (limit && *limit < 1)
    throw input_error(fmt::format("the step limit is {} examples; accepted: at least 1", *limit));
  std::int64_t epoch = epoch_index_;
  std::int64_t position = position_;
  if (position > 0 && begins_epoch(batch)) {
    ++epoch;
    position = 0;
  }

  StepTakes step;
  step.epoch_index = epoch;
  step.first = position;
  step.ranks = options_.ranks;
  const std::int64_t left = left_after(position);
  const std::int64_t available = std::min(left, limit.value_or(left));
  if (options_.effective_batch) {
    step.accumulate = divide_up(*options_.effective_batch, batch * options_.ranks);
    take_evenly(step, batch, std::min(*options_.effective_batch, available));
  } else {
    step.accumulate = options_.accumulate;
    take_accumulated(step, batch, left, available, options_.drop_last);
  }

  if (!mixer_.empty())
    take_streams(step);
  epoch_index_ = epoch;
  position_ = position + (mixer_.empty() ? step.examples : step.streams[options_.clock].count);
  seen_in_total_ += step.examples;
  step.seen_in_epoch = position_;
  step.seen_in_total = seen_in_total_;
  step.seen_of_epochs = mixer_.empty() ? seen_in_total_ : seen_[options_.clock];
  const bool epoch_ends = left_after(position_) < smallest_step(batch);
  step.passed_in_epoch = epoch_ends ? epoch_size_ : position_;
  return step;
}

std::int64_t largest_batch(std::int64_t examples, std::int64_t ranks) {
  return examples / ranks;
}

std::int64_t largest_batch(const SamplerOptions& options) {
  return largest_batch(largest_step(options), options.ranks);
}

std::int64_t epoch_size(const SamplerOptions& options) {
  return options.streams.empty() ? options.examples : options.streams.at(options.clock).examples;
}

std::int64_t examples_in_epoch(const SamplerOptions& options) {
  return options.streams.empty() ? options.examples
                                 : StreamMixer(options.shares, options.clock).capacity(epoch_size(options));
}

std::int64_t data_parallel_size(std::int64_t world, std::int64_t tp, std::int64_t cp, std::int64_t sp) {
  const auto refuse = [&](const char* why) {
    return input_error(fmt::format("world {}, tp {}, cp {}, sp {}: {}", world, tp, cp, sp, why));
  };
  if (world < 1 || tp < 1 || cp < 1 || sp < 1)
    throw refuse("each must be at least 1");
  std::int64_t product = 0;
  if (__builtin_mul_overflow(tp, cp, &product) || __builtin_mul_overflow(product, sp, &product) || world % product != 0)
    throw refuse("world must be a multiple of tp*cp*sp");
  return world / product;
}

} // namespace batchscope::data
