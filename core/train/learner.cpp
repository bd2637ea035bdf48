#include "core/train/detail/learner.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <ATen/core/Reduction.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_copy.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_foreach_norm.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/mse_loss.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/memory/detail/budget_allocator.h"
#include "core/memory/detail/torch_errors.h"
#include "core/model/detail/autocast.h"
#include "core/model/detail/weights.h"
#include "core/schedule/learning_rate.h"
#include "core/train/detail/torch_settings.h"

namespace batchscope::train {

namespace {

using Target = data::ExampleShape::Target;
using telemetry::Phase;

c10::Device torch_device(const memory::Device& device) {
  switch (device.kind()) {
  case memory::DeviceKind::cpu:
    return c10::kCPU;
  case memory::DeviceKind::cuda:
    return {c10::kCUDA, static_cast<c10::DeviceIndex>(device.index())};
  case memory::DeviceKind::meta:
    return c10::kMeta;
  }
  return c10::kCPU;
}

/// Examples are gathered in host memory, by `fill`; a GPU gets a copy. On `meta` there is nothing to fill.
template <typename Value, typename Fill>
at::Tensor load_tensor(at::IntArrayRef shape, at::ScalarType type, const c10::Device& device, const Fill& fill) {
  if (device.is_meta())
    return at::empty(shape, at::TensorOptions(type).device(device));
  const at::Tensor tensor = at::empty(shape, at::TensorOptions(type).pinned_memory(device.is_cuda()));
  fill(tensor.data_ptr<Value>());
  return tensor.to(device, /*non_blocking=*/true);
}

at::ScalarType precision_of(const run::RunSpec& spec) {
  return spec.precision == "bf16" ? at::kBFloat16 : spec.precision == "fp16" ? at::kHalf : at::kFloat;
}

/// Loss and gradient norm, and if they are asked for the norm of a part and the loss scale; then a sum of each stream.
constexpr std::int64_t most_figures = 4;
/// From here on kernels behave alike.
constexpr std::int64_t warm_up_examples = 8;

} // namespace

Learner::Learner(const run::RunSpec& spec, data::DataSplit data, memory::Device& device, Weights weights)
    : data_(std::move(data)), device_(device), where_(torch_device(device)), label_smoothing_(spec.label_smoothing),
      batch_norm_follows_(spec.batch_norm_rule == "inverse"), precision_(precision_of(spec)), draw_{.seed = spec.seed},
      figures_(where_, most_figures + static_cast<std::int64_t>(data_.train->shape().streams)) {
  const std::uint64_t refused = device_.readings().refused;
  try {
    device_.enter(Phase::setup);
    const bool drawn = weights == Weights::drawn;
    model_ = model::make_model(run::parse_model(spec.model), data_.train->shape(), spec.dropout,
                               drawn ? std::optional(spec.seed) : std::nullopt, where_);
    model_->set_checkpointing(spec.checkpointing);
    if (!spec.init.empty() && drawn) {
      const memory::NotCounted own;
      about_field("init", [&] { model::load_weights(*model_, spec.init); });
    }
    device_.enter(Phase::optimizer_state);
    optimizer_ = make_optimizer(spec, model_->parameters());
    if (spec.ema)
      averages_.emplace(model_->parameters(), *spec.ema);
    if (precision_ == at::kHalf)
      scaler_.emplace(where_);
    if (where_.is_cuda()) {
      clip_share_ = at::empty({}, at::TensorOptions(at::kFloat).device(where_));
      for (const at::Tensor& buffer : model_->buffers())
        moved_buffers_.push_back(at::empty_like(buffer));
    }
    if (where_.is_meta())
      return; // nothing is drawn
    generator_ = at::globalContext().defaultGenerator(where_);
    generator_.set_current_seed(spec.seed);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    if (!memory::is_out_of_memory(error, memory::was_short(device_, refused))) {
      const Error failed = memory::failure(error);
      throw Error(failed.kind(), std::string("cannot create the model: ") + failed.what());
    }
    const memory::OutOfMemoryInfo info = device_.take_last_oom().value_or(memory::OutOfMemoryInfo{});
    throw Error(Error::Kind::failed,
                "the memory budget of " + format_bytes(info.limit) +
                    " is too small for the model and its optimizer: " + format_bytes(info.requested) +
                    " more are needed, " + format_bytes(info.in_use) + " are already allocated",
                "memory_budget");
  }
}

Learner::~Learner() = default;

void Learner::set_dropout(double p) {
  model_->set_dropout(p);
}

bool Learner::has_own_batch_norm() const {
  return model_->has_own_batch_norm();
}

bool Learner::has_accuracy() const {
  return data_.train->shape().target != Target::number;
}

std::int64_t Learner::parameter_count() const {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : model_->parameters())
    count += parameter.numel();
  return count;
}

Learner::Batch Learner::load(const data::Dataset& data, MicroBatch examples, const data::BatchLayout& layout,
                             bool training) {
  const data::ExampleShape& shape = data.shape();
  Batch batch;
  if (shape.input == data::ExampleShape::Input::tokens) {
    batch.input = load_tensor<std::int64_t>({layout.count, layout.length}, at::kLong, where_,
                                            [&](std::int64_t* to) { data.fill_tokens(examples, layout.length, to); });
  } else {
    std::vector<std::int64_t> sizes = {layout.count};
    sizes.insert(sizes.end(), shape.dimensions.begin(), shape.dimensions.end());
    batch.input = load_tensor<float>(sizes, at::kFloat, where_, [&](float* to) {
      training ? data.fill_training_inputs(examples, draw_, to) : data.fill_inputs(examples, to);
    });
  }
  if (shape.target == Target::number) {
    batch.target =
        load_tensor<float>({layout.count, 1}, at::kFloat, where_, [&](float* to) { data.fill_numbers(examples, to); });
  } else {
    const std::int64_t labels = shape.target == Target::next_token ? layout.count * layout.length : layout.count;
    batch.target = load_tensor<std::int64_t>({labels}, at::kLong, where_,
                                             [&](std::int64_t* to) { data.fill_labels(examples, layout.length, to); });
  }
  return batch;
}

at::Tensor Learner::logits(const at::Tensor& input, bool training) const {
  const model::Autocast mixed(where_, precision_);
  return model_->forward(input, training).to(at::kFloat);
}

at::Tensor Learner::losses(const at::Tensor& logits, const at::Tensor& target, double label_smoothing,
                           at::Reduction::Reduction reduction) const {
  if (data_.train->shape().target == Target::number)
    return at::mse_loss(logits, target, reduction);
  const at::Tensor flat = logits.dim() == 3 ? logits.flatten(0, 1) : logits;
  return at::cross_entropy_loss(flat, target, /*weight=*/{}, reduction, data::ignored_target, label_smoothing);
}

/// For each stream, which loss terms of the micro batch are its: streams x terms, 1 or 0.
at::Tensor Learner::load_streams(MicroBatch examples, const data::BatchLayout& layout) const {
  const bool tokens = data_.train->shape().target == Target::next_token;
  const std::int64_t terms = tokens ? layout.length : 1; // with padding, which has no loss
  return load_tensor<float>({data_.train->shape().streams, layout.count * terms}, at::kFloat, where_, [&](float* to) {
    const std::vector<data::Stream>& streams = data_.train->streams();
    std::int64_t first = 0;
    for (const data::Stream& stream : streams) {
      for (const std::int64_t example : examples)
        to = std::fill_n(to, terms, example >= first && example < first + stream.examples ? 1.0F : 0.0F);
      first += stream.examples;
    }
  });
}

/// The sum of the micro batch's losses; each stream's part is added to its sum.
at::Tensor Learner::loss_sum_by_stream(const at::Tensor& logits, const Batch& batch) {
  const at::Tensor each = losses(logits, batch.target, label_smoothing_, at::Reduction::None).flatten();
  const at::Tensor sums = batch.streams.mul(each.detach()).sum({1}, /*keepdim=*/false, at::kDouble);
  if (stream_losses_.defined())
    stream_losses_.add_(sums);
  else
    stream_losses_ = sums;
  return each.sum();
}

void Learner::accumulate(MicroBatch examples, std::int64_t terms) {
  device_.enter(Phase::batch);
  const data::BatchLayout layout = data_.train->layout(examples);
  Batch batch = load(*data_.train, examples, layout, /*training=*/true);
  if (data_.train->shape().streams > 0)
    batch.streams = load_streams(examples, layout);
  device_.enter(Phase::forward);
  if (batch_norm_follows_)
    model_->set_batch_norm_momentum(schedule::scaled_batch_norm_momentum(static_cast<std::int64_t>(examples.size())));
  const at::Tensor answers = logits(batch.input, /*training=*/true);
  const at::Tensor loss = batch.streams.defined() ? loss_sum_by_stream(answers, batch)
                                                  : losses(answers, batch.target, label_smoothing_, at::Reduction::Sum);
  window_losses_.push_back(loss.detach());
  device_.enter(Phase::backward);
  // The initial gradient makes the gradients those of the mean over the window, without another operation in the graph.
  const double share = 1.0 / static_cast<double>(terms);
  loss.backward(scaler_ ? scaler_->scaled(share) : at::scalar_tensor(share, loss.options()));
  tag_gradients();
}

void Learner::warm_up() {
  if (!where_.is_cuda())
    return;
  const Moved before = copy_moved();
  std::vector<std::int64_t> first(static_cast<std::size_t>(std::min(warm_up_examples, data_.train->size())));
  std::iota(first.begin(), first.end(), 0);
  try {
    attempt({first});
  } catch (const Error&) { // which the training will meet, too
  }
  undo(before);
  device_.release_cache();
}

Attempt Learner::attempt(const std::vector<MicroBatch>& window, bool measure_noise) {
  Attempt result;
  for (const MicroBatch& micro : window)
    result.tokens += data_.train->layout(micro).loss_terms;
  const std::uint64_t refused_before = device_.readings().refused;
  const Moved before = set_aside();
  std::vector<at::Tensor> of_part;
  MicroBatch current;
  bool again = false;
  try {
    window_losses_.clear();
    stream_losses_ = at::Tensor();
    for (const MicroBatch& micro : window) {
      current = micro;
      accumulate(micro, result.tokens);
      if (measure_noise && window.size() > 1 && of_part.empty()) {
        of_part.push_back(gradient_norm());
        if (scaler_)
          of_part.push_back(scaler_->scale()); // the gradients are unscaled at the end of the window
      }
    }
    if (scaler_)
      scaler_->unscale(gradients());
    norm_ = gradient_norm();
    figured_ = {.tokens = result.tokens};
    send_figures(window, of_part);
    return result;
  } catch (const std::exception& error) {
    again = not_deterministic_.empty() && is_for_determinism(error);
    if (again)
      not_deterministic_ = memory::first_line(error);
    else
      result = gave_up(error, refused_before, current);
  }
  undo(before);
  finish_broken_backward();
  device_.release_cache();
  if (!again)
    return result;
  go_without_determinism();
  return attempt(window, measure_noise);
}

Learner::Moved Learner::set_aside() {
  if (!where_.is_cuda())
    return copy_moved();
  if (!moved_buffers_.empty()) {
    const at::NoGradGuard no_grad;
    at::_foreach_copy_(moved_buffers_, model_->buffers());
  }
  return {moved_buffers_, model_->draws() ? generator_.get_state() : at::Tensor()};
}

Learner::Moved Learner::copy_moved() const {
  const memory::NotCounted own;
  Moved moved;
  if (where_.is_meta())
    return moved;
  for (const at::Tensor& buffer : model_->buffers())
    moved.buffers.push_back(buffer.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true));
  if (model_->draws())
    moved.generator = generator_.get_state();
  return moved;
}

void Learner::undo(const Moved& before) {
  drop_gradients();
  window_losses_.clear();
  stream_losses_ = at::Tensor();
  for (std::size_t i = 0; i < before.buffers.size(); ++i)
    model_->buffers()[i].copy_(before.buffers[i]);
  if (before.generator.defined())
    generator_.set_state(before.generator);
}

std::optional<telemetry::Trace> Learner::trace(MicroBatch examples) {
  const Moved before = copy_moved();
  // The first attempt at a size includes one-time allocations (kernels' caches).
  if (attempt({examples}).out_of_memory)
    return std::nullopt;
  drop_gradients();
  bool fits = false;
  const bool traced = device_.start_trace();
  try {
    fits = traced && !attempt({examples}).out_of_memory;
    drop_gradients();
  } catch (...) {
    if (traced)
      device_.stop_trace();
    throw;
  }
  undo(before);
  if (!traced)
    return std::nullopt;
  telemetry::Trace recorded = device_.stop_trace();
  recorded.batch = static_cast<std::int64_t>(examples.size());
  return fits ? std::optional(std::move(recorded)) : std::nullopt;
}

/// An interrupted backward pass leaves its remaining tasks in LibTorch's queue, and with them the activations of other
/// branches of the graph. The next backward pass drops them, but its forward pass would run before that.
void Learner::finish_broken_backward() {
  const memory::NotCounted own;
  at::zeros({1}, at::TensorOptions(where_)).requires_grad_().sum().backward();
}

/// Called while the step is unwound, with gradients still alive: they show which part of the workspace they are.
Attempt Learner::gave_up(const std::exception& error, std::uint64_t refused_before, MicroBatch failed) {
  if (!memory::is_out_of_memory(error, memory::was_short(device_, refused_before)))
    throw memory::failure(error);
  Attempt result;
  result.out_of_memory = true;
  result.failed = failed;
  result.failed_length = data_.train->layout(failed).length;
  result.info = device_.take_last_oom().value_or(memory::OutOfMemoryInfo{});
  if (!result.info.by_use_known)
    return result;
  tag_gradients(); // what the peak was used for is corrected by it, too
  std::uint64_t gradients = 0;
  for (const at::Tensor& parameter : model_->parameters()) {
    if (parameter.grad().defined())
      gradients += parameter.grad().nbytes();
  }
  auto& by = result.info.in_use_by;
  auto& workspace = by[static_cast<int>(telemetry::Use::workspace)];
  auto& tagged = by[static_cast<int>(telemetry::Use::gradients)];
  const std::uint64_t untagged = std::min(workspace, gradients - std::min(gradients, tagged));
  workspace -= untagged;
  tagged += untagged;
  return result;
}

void Learner::tag_gradients() {
  for (const at::Tensor& parameter : model_->parameters()) {
    if (parameter.grad().defined())
      device_.retag(parameter.grad().storage().data(), telemetry::Use::gradients);
  }
}

std::vector<at::Tensor> Learner::gradients() const {
  std::vector<at::Tensor> all;
  for (const at::Tensor& parameter : model_->parameters())
    all.push_back(parameter.grad());
  return all;
}

at::Tensor Learner::gradient_norm() {
  device_.enter(Phase::update);
  const at::NoGradGuard no_grad;
  return at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients(), 2)));
}

void Learner::clip_gradients(const std::vector<at::Tensor>& all, double highest) {
  if (where_.is_cuda()) { // without asking whether they are above it, for which the host would have to wait
    clip_share_.fill_(highest).div_(norm_).clamp_max_(1.0);
    at::_foreach_mul_(all, clip_share_);
  } else if (const double norm = computed().grad_norm; norm > highest) {
    at::_foreach_mul_(all, highest / norm);
  }
}

void Learner::update(double learning_rate, double weight_decay, std::optional<double> clip) {
  device_.enter(Phase::update);
  const at::NoGradGuard no_grad;
  const memory::NotCounted own;
  {
    const std::vector<at::Tensor> all = gradients();
    if (clip)
      clip_gradients(all, *clip);
    const auto found = scaler_ ? std::optional(scaler_->found()) : std::nullopt;
    optimizer_->step(all, learning_rate, weight_decay, found);
    if (averages_)
      averages_->update(found);
  }
  drop_gradients();
  if (scaler_)
    scaler_->update();
}

void Learner::drop_gradients() {
  norm_ = at::Tensor();
  for (const at::Tensor& parameter : model_->parameters())
    parameter.mutable_grad() = at::Tensor();
}

std::optional<EvaluationSums> Learner::evaluate(MicroBatch examples) {
  const at::NoGradGuard no_grad;
  std::optional<AveragedWeights::InUse> averaged;
  if (averages_)
    averaged.emplace(*averages_);
  const std::uint64_t refused_before = device_.readings().refused;
  try {
    device_.enter(Phase::evaluation);
    const data::BatchLayout layout = data_.validation->layout(examples);
    const Batch batch = load(*data_.validation, examples, layout, /*training=*/false);
    const at::Tensor answers = logits(batch.input, /*training=*/false);
    EvaluationSums sums{losses(answers, batch.target, /*label_smoothing=*/0.0, at::Reduction::Sum).item<double>(),
                        layout.loss_terms, 0};
    if (has_accuracy()) {
      const at::Tensor guesses = answers.argmax(-1).flatten();
      sums.correct = guesses.eq(batch.target).sum().item<std::int64_t>();
    }
    return sums;
  } catch (const std::exception& error) {
    if (!memory::is_out_of_memory(error, memory::was_short(device_, refused_before)))
      throw memory::failure(error);
  }
  device_.release_cache();
  return std::nullopt;
}

std::unique_ptr<Learner::Snapshot> Learner::snapshot() const {
  const memory::NotCounted own;
  auto copy = std::make_unique<Snapshot>();
  const auto copy_all = [](const std::vector<at::Tensor>& from, std::vector<at::Tensor>& to) {
    for (const at::Tensor& tensor : from)
      to.push_back(tensor.detach().to(at::kCPU, /*non_blocking=*/false, /*copy=*/true));
  };
  copy_all(model_->parameters(), copy->parameters);
  copy_all(model_->buffers(), copy->buffers);
  copy_all(optimizer_->state(), copy->optimizer);
  if (averages_)
    copy_all(averages_->state(), copy->averages);
  if (scaler_)
    copy_all(scaler_->state(), copy->scaler);
  copy->generator = generator_.get_state();
  return copy;
}

void Learner::restore(const Snapshot& snapshot) {
  const at::NoGradGuard no_grad;
  drop_gradients();
  const auto copy_all = [](const std::vector<at::Tensor>& from, const std::vector<at::Tensor>& to) {
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i].copy_(from[i]);
  };
  copy_all(snapshot.parameters, model_->parameters());
  copy_all(snapshot.buffers, model_->buffers());
  copy_all(snapshot.optimizer, optimizer_->state());
  if (averages_)
    copy_all(snapshot.averages, averages_->state());
  if (scaler_)
    copy_all(snapshot.scaler, scaler_->state());
  generator_.set_state(snapshot.generator);
}

} // namespace batchscope::train
