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

} // namespace

Sampler::Sampler(const SamplerOptions& options) : options_(options) {
  if (options.examples < 1)
    throw input_error(fmt::format("{} examples: an epoch needs at least one", options.examples));
  require(options.ranks >= 1 && options.ranks <= max_takes, "the number of data-parallel ranks", options.ranks, 1,
          max_takes);
  if (options.accumulate < 1)
    throw input_error(fmt::format("accumulate is {}; accepted: 1 or more", options.accumulate));
  if (options.effective_batch)
    require(*options.effective_batch >= 1 && *options.effective_batch <= options.examples, "effective batch",
            *options.effective_batch, 1, options.examples);
}

std::int64_t Sampler::smallest_step(std::int64_t batch) const {
  if (!options_.drop_last)
    return 1;
  return options_.effective_batch.value_or(batch * options_.ranks);
}

bool Sampler::begins_epoch(std::int64_t batch) const {
  return position_ == 0 || options_.examples - position_ < smallest_step(batch);
}

void Sampler::go_to(const Position& position) {
  require(position.in_epoch >= 0 && position.in_epoch <= options_.examples, "the position in the epoch",
          position.in_epoch, 0, options_.examples);
  if (position.epoch_index < 0 || position.seen_in_total < position.in_epoch)
    throw input_error(fmt::format("epoch {} after {} examples is no position of a run", position.epoch_index,
                                  position.seen_in_total));
  epoch_index_ = position.epoch_index;
  position_ = position.in_epoch;
  seen_in_total_ = position.seen_in_total;
}

StepTakes Sampler::next(std::int64_t batch, std::optional<std::int64_t> limit) {
  require(batch >= 1 && batch <= largest_batch(options_.examples, options_.ranks), "batch", batch, 1,
          largest_batch(options_.examples, options_.ranks));
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
  const std::int64_t left = options_.examples - position;
  const std::int64_t available = std::min(left, limit.value_or(left));
  if (options_.effective_batch) {
    step.accumulate = divide_up(*options_.effective_batch, batch * options_.ranks);
    take_evenly(step, batch, std::min(*options_.effective_batch, available));
  } else {
    step.accumulate = options_.accumulate;
    take_accumulated(step, batch, left, available, options_.drop_last);
  }

  epoch_index_ = epoch;
  position_ = position + step.examples;
  seen_in_total_ += step.examples;
  step.seen_in_epoch = position_;
  step.seen_in_total = seen_in_total_;
  const bool epoch_ends = options_.examples - position_ < smallest_step(batch);
  step.passed_in_epoch = epoch_ends ? options_.examples : position_;
  return step;
}

std::int64_t largest_batch(std::int64_t examples, std::int64_t ranks) {
  return examples / ranks;
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
