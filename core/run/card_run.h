#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "core/data/dataset.h"
#include "core/pretended_gpu/helper.h"
#include "core/run/card_steps.h"
#include "core/run/dry_run.h"
#include "core/run/run_spec.h"

namespace batchscope::run {

/// The optimizer steps of a run on a card that need not be here: the trainer's own code on a pretended one
/// (core/pretended_gpu), with the kernels, library workspaces and caching allocator of that card. A size takes some
/// hundredths of a second. What cuDNN's convolutions would ask for, the CUDA context and loaded kernels are not in it.
class CardRun final : public DryRun {
public:
  /// `helper` may be shared with others; the device of the spec is ignored.
  CardRun(std::shared_ptr<pretended_gpu::Helper> helper, pretended_gpu::Gpu card, const RunSpec& spec,
          const data::ExampleShape& shape, std::int64_t examples);

  /// Steps of a run that begins with this nominal batch, where the allocator may reserve `bytes`. Throws Error:
  /// unavailable if no GPU can be pretended here, failed if the steps fail for another reason than memory.
  CardSteps steps(std::int64_t batch, std::uint64_t bytes);
  /// The same on a card that is larger than any.
  const CardSteps& steps(std::int64_t batch);

  telemetry::Trace trace(std::int64_t batch) override;
  bool can_trace(std::int64_t batch) override { return steps(batch).fits; }
  bool fits(std::int64_t batch, std::uint64_t bytes) override;
  bool complete() const override { return true; }
  double tolerance() const override { return 5e-3; }
  std::int64_t parameter_count() override { return steps(1).parameters; }
  std::int64_t largest_whole_batch() const override {
    return run::largest_whole_batch(question_.spec, question_.examples);
  }

private:
  std::shared_ptr<pretended_gpu::Helper> helper_;
  pretended_gpu::Gpu card_;
  CardQuestion question_;
  std::map<std::int64_t, CardSteps> known_; ///< of steps() on a card of any size
};

} // namespace batchscope::run
