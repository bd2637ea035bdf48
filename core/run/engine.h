#pragma once

#include <memory>

#include "core/data/dataset.h"
#include "core/run/card_steps.h"
#include "core/run/dry_run.h"
#include "core/run/session.h"

namespace batchscope::run {

/// Everything that needs LibTorch. It is a separate library, loaded on first use (about 0.3 s); code that only reads
/// runs never loads it.
class Engine {
public:
  virtual ~Engine() = default;
  /// With `pool`, the data are shared with the pool's other users.
  /// Throws Error: input (bad spec, bad data), unavailable (device), failed (budget below the model itself).
  virtual std::unique_ptr<Session> open_session(const RunSpec& spec, const std::shared_ptr<data::DataPool>& pool) = 0;
  enum class Workspace {
    learn,
    known_only,
    none ///< of no kernel: those of `cpu` say nothing about a GPU's
  };
  /// Builds the model of a spec without its weights, for `examples` training examples of a shape; see DryRun. The model
  /// fits the shape. The workspace of a convolution that was not met before is learnt by running that kernel, which
  /// takes some tens of milliseconds; with known_only it is left out.
  virtual std::unique_ptr<DryRun> dry_run(const RunSpec& spec, const data::ExampleShape& shape, std::int64_t examples,
                                          Workspace workspace) = 0;
  /// Makes steps of a run on cuda:0, which is a pretended GPU (core/pretended_gpu): its kernels compute nothing, and
  /// the examples have no content. Once in the life of a process, whose first use of the GPU it is. Throws Error: input
  /// for a bad spec, else as open_session().
  virtual CardSteps card_steps(const CardQuestion& question) = 0;
  virtual int threads() const = 0; ///< host threads used for computing
};

/// Returns the engine; loads it on first use. Throws Error (unavailable) if its library, or one that it needs, cannot
/// be loaded. Any thread.
Engine& engine();

/// engine().open_session().
std::unique_ptr<Session> open_session(const RunSpec& spec, const std::shared_ptr<data::DataPool>& pool = nullptr);

/// Sets how long OpenMP's threads spin while idle, through the environment, unless the user has set it. OpenMP reads
/// the environment when the engine is loaded; later changes have no effect. Call it in main(), before a second thread
/// starts.
void set_openmp_wait();

} // namespace batchscope::run
