#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/data/dataset.h"
#include "core/estimate/cards.h"
#include "core/pretended_gpu/helper.h"
#include "core/run/card_run.h"
#include "core/run/dry_run.h"
#include "core/run/run_spec.h"

namespace batchscope::estimate {

/// Makes dry runs for a target: for a card on a pretended one of its kind, with LibTorch's own allocator; for an amount
/// of memory as on `cpu`. Where no such card can be pretended, for it too, without the workspace of kernels (those of
/// `cpu` need other amounts), and why() says so. One thread.
class DryRuns {
public:
  /// `helper` may be shared with others; one is made for null.
  explicit DryRuns(Target target, std::shared_ptr<pretended_gpu::Helper> helper = nullptr);

  /// Throws what run::Engine::dry_run() throws.
  std::unique_ptr<run::DryRun> make(const run::RunSpec& spec, const data::ExampleShape& shape, std::int64_t examples);

  /// Memory that steps with this batch take on the card, or would take on a larger one if they do not fit. Nothing for
  /// an amount of memory, or where no card can be pretended.
  std::optional<run::CardSteps> steps(const run::RunSpec& spec, const data::ExampleShape& shape, std::int64_t examples,
                                      std::int64_t batch);

  const Target& target() const { return target_; }
  bool for_card() const { return !target_.name.empty(); }
  /// Whether those for the card were not made on it; known after the first.
  bool on_cpu() const { return !why_.empty(); }
  const std::string& why() const { return why_; }

private:
  std::unique_ptr<run::CardRun> on_card(const run::RunSpec& spec, const data::ExampleShape& shape,
                                        std::int64_t examples) const;

  Target target_;
  std::shared_ptr<pretended_gpu::Helper> helper_;
  bool shown_ = false; ///< that such a card can be pretended
  std::string why_;
};

} // namespace batchscope::estimate
