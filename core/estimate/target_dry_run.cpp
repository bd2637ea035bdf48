#include "core/estimate/target_dry_run.h"

#include <optional>

#include "core/base/error.h"
#include "core/predict/reserve.h"
#include "core/run/engine.h"

namespace batchscope::estimate {

namespace {

std::optional<bool> fits_reserved(run::DryRun& dry_run, std::int64_t batch, std::uint64_t bytes) {
  try {
    return predict::reserve(dry_run.trace_from_start(batch), bytes).fits;
  } catch (const Error& error) {
    if (error.kind() != Error::Kind::unavailable)
      throw;
    return std::nullopt;
  }
}

} // namespace

std::unique_ptr<run::DryRun> dry_run_for(const run::RunSpec& spec, const data::ExampleShape& shape,
                                         std::int64_t examples, const Target& target) {
  using Workspace = run::Engine::Workspace;
  return run::engine().dry_run(spec, shape, examples, target.name.empty() ? Workspace::learn : Workspace::none);
}

bool fits(run::DryRun& dry_run, std::int64_t batch, const Target& target, std::uint64_t bytes) {
  if (!target.name.empty()) {
    if (const auto reserved = fits_reserved(dry_run, batch, bytes))
      return *reserved;
  }
  return dry_run.trace(batch).peak_bytes <= bytes;
}

} // namespace batchscope::estimate
