#include "core/run/card_run.h"

#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"

namespace batchscope::run {

namespace {

/// More than any card has. Of address space, which is all that it takes, LibTorch may reserve a few times as much.
constexpr std::uint64_t any_size = std::uint64_t{1} << 43;

} // namespace

CardRun::CardRun(std::shared_ptr<pretended_gpu::Helper> helper, pretended_gpu::Gpu card, const RunSpec& spec,
                 const data::ExampleShape& shape, std::int64_t examples)
    : helper_(std::move(helper)),
      card_(std::move(card)), question_{
                                  .spec = spec, .shape = shape, .examples = examples, .batch = 1, .budget_bytes = 0} {
  question_.spec.device = "cuda:0";
  question_.spec.memory_budget.reset();
  question_.spec.init.clear();
  card_.count = 1;
  card_.context_bytes = 0; // `bytes` are those for the allocator
}

CardSteps CardRun::steps(std::int64_t batch, std::uint64_t bytes) {
  pretended_gpu::Gpu card = card_;
  card.memory_bytes = bytes;
  CardQuestion question = question_;
  question.batch = batch;
  question.budget_bytes = bytes;
  return card_steps_from_json(helper_->ask(card, to_json(question)));
}

const CardSteps& CardRun::steps(std::int64_t batch) {
  auto known = known_.find(batch);
  if (known == known_.end())
    known = known_.emplace(batch, steps(batch, any_size)).first;
  return known->second;
}

telemetry::Trace CardRun::trace(std::int64_t batch) {
  const CardSteps& taken = steps(batch);
  if (!taken.fits)
    throw Error(Error::Kind::failed, fmt::format("a step with batch {} needs more memory than any card has", batch));
  return taken.trace;
}

bool CardRun::fits(std::int64_t batch, std::uint64_t bytes) {
  const CardSteps& known = steps(batch);
  if (!known.fits || known.allocated_bytes > bytes)
    return false;
  // Within what it reserves no request would be refused; with less, blocks that are kept may give way.
  return known.reserved_bytes <= bytes || steps(batch, bytes).fits;
}

} // namespace batchscope::run
