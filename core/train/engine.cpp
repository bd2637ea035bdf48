#include "core/run/engine.h"

#include <ATen/Parallel.h>

#include "core/memory/detail/cuda_library.h"
#include "core/run/detail/engine_library.h"
#include "core/train/detail/card_steps.h"
#include "core/train/detail/dry_run.h"
#include "core/train/detail/session.h"
#include "core/train/detail/torch_settings.h"

namespace {

class TrainingEngine final : public batchscope::run::Engine {
public:
  std::unique_ptr<batchscope::run::Session>
  open_session(const batchscope::run::RunSpec& spec, const std::shared_ptr<batchscope::data::DataPool>& pool) override {
    return batchscope::train::open_session(spec, pool);
  }
  std::unique_ptr<batchscope::run::DryRun> dry_run(const batchscope::run::RunSpec& spec,
                                                   const batchscope::data::ExampleShape& shape, std::int64_t examples,
                                                   Workspace workspace) override {
    batchscope::train::apply_torch_settings(); // they determine the workspace of kernels
    return batchscope::train::make_dry_run(spec, shape, examples, workspace);
  }
  batchscope::run::CardSteps card_steps(const batchscope::run::CardQuestion& question) override {
    return batchscope::train::card_steps(question);
  }
  int threads() const override { return at::get_num_threads(); }
};

} // namespace

/// Entry point of this library for batchscope::run::engine(), named in engine_library.h.
extern "C" [[gnu::visibility("default")]] batchscope::run::Engine* batchscope_engine() {
  static TrainingEngine engine = [] {
    batchscope::memory::offer_cuda(); // before LibTorch is asked anything
    return TrainingEngine();
  }();
  return &engine;
}
