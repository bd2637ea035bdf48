#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>

#include "core/checkpoint/checkpoint.h"
#include "core/data/dataset.h"
#include "core/memory/device.h"
#include "core/model/detail/model.h"
#include "core/run/run_spec.h"
#include "core/schedule/gradient_noise.h"
#include "core/train/detail/averaged_weights.h"
#include "core/train/detail/figures.h"
#include "core/train/detail/loss_scaler.h"
#include "core/train/detail/optimizer.h"

namespace batchscope::train {

/// Indices of the examples of one forward and backward pass.
using MicroBatch = std::span<const std::int64_t>;

/// Result of computing the gradients of a whole accumulation window.
struct Attempt {
  bool out_of_memory = false;
  std::int64_t tokens = 0; ///< loss terms of the window
  // If memory ran out:
  MicroBatch failed;              ///< the micro batch of the window that did not fit
  std::int64_t failed_length = 0; ///< its longest example (1 if examples have no length)
  memory::OutOfMemoryInfo info;
};

/// Results of an attempt that succeeded.
struct Computed {
  double loss = 0;                   ///< mean over all loss terms of the window
  double grad_norm = 0;              ///< before clipping
  std::vector<double> stream_losses; ///< mean of each stream of the data, NaN for one without examples in the window
  std::optional<schedule::GradientNorms> norms; ///< of its first micro batch and of all; if they were asked for
};

/// Loss and correct predictions of one evaluation batch.
struct EvaluationSums {
  double loss = 0; ///< sum over terms
  std::int64_t terms = 0;
  std::int64_t correct = 0;
};

/// Model, optimizer and data on a device: computes the gradients of a window, updates the weights, evaluates. After an
/// attempt that runs out of memory, gradients, buffers, generator and bytes in use are what they were before it. One
/// thread.
class Learner {
public:
  /// Without values, weights are memory only: for steps that compute nothing.
  enum class Weights { drawn, without_values };
  Learner(const run::RunSpec& spec, data::DataSplit data, memory::Device& device, Weights weights = Weights::drawn);
  ~Learner();

  /// On a GPU makes a small step that changes nothing. What libraries allocate once, as cuBLAS its workspace, then lies
  /// in blocks of its own. Among those of a large first step it would leave less room for the next one, so that a size
  /// that a search has found would not hold in a run that begins with it.
  void warm_up();
  /// Forward and backward over every micro batch; the gradients are those of the mean over all loss terms of the
  /// window. `measure_noise`: of a window of several micro batches, also the norm of the first one's gradients.
  Attempt attempt(const std::vector<MicroBatch>& window, bool measure_noise = false);
  /// Returns the results of the last attempt, which must have succeeded. Waits for a GPU: call it after update(), so
  /// that the GPU has that to do meanwhile.
  Computed computed();
  /// LibTorch's words, once an operator was met without which a seed does not give the same bits; else empty.
  const std::string& not_deterministic() const { return not_deterministic_; }
  /// Allocation trace of a step with these examples, without the update. Restores all state, as a failed attempt does.
  /// Nothing if memory runs out or the device cannot trace.
  std::optional<telemetry::Trace> trace(MicroBatch examples);
  /// Clips the gradients, updates the weights and their averages, and frees the gradients. Nothing of it can run out of
  /// memory half-way, so no copy of weights and optimizer is needed to undo it: everything that it writes to on the
  /// device was allocated by the constructor. The scalars that LibTorch makes for it on the host do not count.
  void update(double learning_rate, double weight_decay, std::optional<double> clip);

  /// Sums over these validation examples, with the averaged weights if the run has them; nothing if memory ran out.
  std::optional<EvaluationSums> evaluate(MicroBatch examples);

  /// Copies of weights, optimizer, buffers and generator that do not count against the budget.
  struct Snapshot {
    std::vector<at::Tensor> parameters, buffers, optimizer, averages, scaler;
    at::Tensor generator;
  };
  std::unique_ptr<Snapshot> snapshot() const;
  void restore(const Snapshot& snapshot);

  /// Copies of everything that training changes, for a checkpoint, in memory that does not count against the budget.
  std::vector<checkpoint::Tensor> copy_state() const;
  /// Throws Error (input) for a checkpoint of another model, and changes nothing then.
  void restore(const checkpoint::Checkpoint& checkpoint);

  /// Weights and buffers with their names in PyTorch, copied; with averages, those.
  std::vector<checkpoint::Tensor> copy_weights();

  const data::Dataset& train_data() const { return *data_.train; }
  const data::Dataset* validation_data() const { return data_.validation.get(); }
  /// Sets the epoch, on which the augmentation of all further training examples depends; 0 at first.
  void set_epoch(std::int64_t epoch) { draw_.epoch = epoch; }
  /// For all further micro batches, 0 <= p < 1.
  void set_dropout(double p);
  /// Gradients of the last attempt, in the order of the parameters; undefined tensors before it and after the update.
  std::vector<at::Tensor> gradients() const;
  bool has_accuracy() const;
  bool has_own_batch_norm() const; ///< see model::Model
  std::int64_t parameter_count() const;
  memory::Device& device() { return device_; }

private:
  std::vector<std::pair<std::string, at::Tensor>> state() const; ///< everything that training changes, by name
  struct Batch {
    at::Tensor input, target;
    at::Tensor streams; ///< of each loss term, if the data have several
  };
  Batch load(const data::Dataset& data, MicroBatch examples, const data::BatchLayout& layout, bool training);
  /// In fp32, whatever the precision of the forward pass.
  at::Tensor logits(const at::Tensor& input, bool training) const;
  at::Tensor load_streams(MicroBatch examples, const data::BatchLayout& layout) const;
  at::Tensor losses(const at::Tensor& logits, const at::Tensor& target, double label_smoothing,
                    at::Reduction::Reduction reduction) const;
  at::Tensor loss_sum_by_stream(const at::Tensor& logits, const Batch& batch);
  std::vector<std::int64_t> stream_terms(const std::vector<MicroBatch>& window) const;
  void accumulate(MicroBatch examples, std::int64_t terms);
  void send_figures(const std::vector<MicroBatch>& window, const std::vector<at::Tensor>& of_part);
  at::Tensor gradient_norm();
  void clip_gradients(const std::vector<at::Tensor>& all, double highest);
  void tag_gradients();
  void drop_gradients();
  void finish_broken_backward();
  /// State besides the gradients that an attempt changes, copied without counting against the budget.
  struct Moved {
    std::vector<at::Tensor> buffers;
    at::Tensor generator; ///< undefined if nothing draws from it
  };
  Moved copy_moved() const;
  /// On a GPU without waiting for it, into memory that the next call writes to, too.
  Moved set_aside();
  void undo(const Moved& before);
  Attempt gave_up(const std::exception& error, std::uint64_t refused_before, MicroBatch failed);

  data::DataSplit data_;
  memory::Device& device_;
  c10::Device where_;
  double label_smoothing_;
  bool batch_norm_follows_;  ///< its momentum the micro batch
  at::ScalarType precision_; ///< of forward passes; weights and gradients are in fp32
  std::unique_ptr<model::Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<AveragedWeights> averages_;
  std::optional<LossScaler> scaler_; ///< with fp16
  at::Generator generator_;          ///< LibTorch's default generator, which dropout uses
  data::AugmentationDraw draw_;
  std::vector<at::Tensor> window_losses_; ///< sums of the micro batches so far, on the device
  at::Tensor stream_losses_;              ///< sums of the streams so far, on the device; undefined before the first
  at::Tensor norm_;                       ///< of the last attempt's gradients, on the device
  at::Tensor clip_share_;                 ///< on a GPU, where clip_gradients() computes it
  std::vector<at::Tensor> moved_buffers_; ///< of set_aside(), on a GPU
  Figures figures_;
  /// Numbers of tokens, terms and examples behind the figures of the last attempt.
  struct {
    std::int64_t tokens = 0;
    std::vector<std::int64_t> stream_terms; ///< empty: the data are one stream
    std::int64_t part = 0, whole = 0;       ///< examples; part 0: its norm was not asked for
    std::int64_t part_tokens = 0;
  } figured_;
  std::string not_deterministic_;
};

} // namespace batchscope::train
