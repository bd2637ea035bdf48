#include "core/train/detail/card_steps.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "core/base/error.h"
#include "core/memory/detail/block_counter.h"
#include "core/memory/device.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/shape_steps.h"
#include "core/train/detail/torch_settings.h"
#include "core/train/detail/trials.h"

namespace batchscope::train {

namespace {

/// Bytes by use of what is still allocated at the end of a trace.
std::array<std::uint64_t, telemetry::use_count> left_by_use(const telemetry::Trace& trace) {
  std::map<std::uint32_t, const telemetry::TraceEvent*> alive;
  for (const telemetry::TraceEvent& event : trace.events) {
    if (event.allocates)
      alive[event.block] = &event;
    else
      alive.erase(event.block);
  }
  std::array<std::uint64_t, telemetry::use_count> by{};
  for (const auto& [block, event] : alive)
    by[static_cast<std::size_t>(memory::use_of(event->phase))] += event->bytes;
  return by;
}

/// As a session makes it, and its search its trials.
class CardTrial {
public:
  explicit CardTrial(const run::CardQuestion& question)
      : question_(question), device_(memory::open_device("cuda:0", question.budget_bytes)),
        steps_(question.spec, question.shape, question.examples) {}

  run::CardSteps run() {
    device_->start_trace();
    try {
      learner_ = steps_.make_learner(*device_);
    } catch (const Error&) {
      if (device_->readings().refused == 0)
        throw;
      note_peaks();
      return taken_; // not even the model fits
    }
    held_ = left_by_use(device_->stop_trace());
    device_->release_cache();
    learner_->warm_up();
    device_->release_cache();
    device_->reset_peak();
    for (int i = 0; i < steps_to_settle; ++i)
      if (!steps_.step(*learner_, question_.batch)) {
        note_peaks();
        return taken_;
      }
    note_peaks();
    return last_step();
  }

private:
  run::CardSteps last_step() {
    device_->start_trace();
    const bool fits = steps_.step(*learner_, question_.batch);
    telemetry::Trace trace = device_->stop_trace();
    note_peaks();
    if (!fits)
      return taken_;
    taken_.fits = true;
    taken_.parameters = learner_->parameter_count();
    trace.batch = question_.batch;
    trace.peak_bytes = taken_.allocated_bytes; // of all steps
    trace.start_bytes_by = held_;
    std::uint64_t known = 0;
    for (const std::uint64_t bytes : held_)
      known += bytes;
    // Memory that libraries and the loss have allocated since.
    trace.start_bytes_by[static_cast<std::size_t>(telemetry::Use::workspace)] +=
        trace.start_bytes - std::min(known, trace.start_bytes);
    taken_.trace = std::move(trace);
    return taken_;
  }

  void note_peaks() {
    const memory::Readings now = device_->readings();
    taken_.reserved_bytes = std::max(taken_.reserved_bytes, now.peak_reserved);
    taken_.allocated_bytes = std::max(taken_.allocated_bytes, now.peak);
  }

  const run::CardQuestion& question_;
  std::unique_ptr<memory::Device> device_;
  ShapeSteps steps_;
  std::unique_ptr<Learner> learner_;
  std::array<std::uint64_t, telemetry::use_count> held_{};
  run::CardSteps taken_;
};

} // namespace

run::CardSteps card_steps(const run::CardQuestion& question) {
  apply_torch_settings();
  use_tf32(question.spec.precision == "tf32");
  return CardTrial(question).run();
}

} // namespace batchscope::train
