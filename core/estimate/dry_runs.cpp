#include "core/estimate/dry_runs.h"

#include <utility>

#include "core/base/error.h"
#include "core/run/engine.h"

namespace batchscope::estimate {

DryRuns::DryRuns(Target target, std::shared_ptr<pretended_gpu::Helper> helper)
    : target_(std::move(target)), helper_(helper ? std::move(helper) : std::make_shared<pretended_gpu::Helper>()) {}

std::unique_ptr<run::CardRun> DryRuns::on_card(const run::RunSpec& spec, const data::ExampleShape& shape,
                                               std::int64_t examples) const {
  return std::make_unique<run::CardRun>(helper_, pretended(target_), spec, shape, examples);
}

std::unique_ptr<run::DryRun> DryRuns::make(const run::RunSpec& spec, const data::ExampleShape& shape,
                                           std::int64_t examples) {
  using Workspace = run::Engine::Workspace;
  if (for_card() && !on_cpu()) {
    try {
      auto made = on_card(spec, shape, examples);
      if (!std::exchange(shown_, true))
        made->steps(1); // which shows whether it can be pretended
      return made;
    } catch (const Error& error) {
      if (error.kind() != Error::Kind::unavailable)
        throw;
      why_ = error.what();
    }
  }
  return run::engine().dry_run(spec, shape, examples, for_card() ? Workspace::none : Workspace::learn);
}

std::optional<run::CardSteps> DryRuns::steps(const run::RunSpec& spec, const data::ExampleShape& shape,
                                             std::int64_t examples, std::int64_t batch) {
  if (!for_card() || on_cpu())
    return std::nullopt;
  const auto made = on_card(spec, shape, examples);
  run::CardSteps within = made->steps(batch, target_.usable_bytes());
  return within.fits ? within : made->steps(batch);
}

} // namespace batchscope::estimate
