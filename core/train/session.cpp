#include <algorithm>
#include <chrono>

#include <ATen/Parallel.h>
#include <torch/version.h>

#include <fmt/format.h>

#include "core/base/device_name.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/folder.h"
#include "core/data/dataset.h"
#include "core/data/masked_tokens.h"
#include "core/memory/detail/cuda_library.h"
#include "core/memory/detail/torch_errors.h"
#include "core/run/automatic_batch.h"
#include "core/run/card_run.h"
#include "core/run/model_spec.h"
#include "core/run/run_plan.h"
#include "core/search/run_search.h"
#include "core/search/throughput.h"
#include "core/train/detail/dry_run.h"
#include "core/train/detail/learner.h"
#include "core/train/detail/loop.h"
#include "core/train/detail/session.h"
#include "core/train/detail/torch_settings.h"
#include "core/train/detail/trials.h"

namespace batchscope::train {

namespace {

/// The larger of a prediction's two probes; the other is half of it. Kernels behave alike from 8 on.
constexpr std::int64_t largest_prediction_probe = 16;

data::DataSplit open_checked_data(const run::RunSpec& spec, const run::ModelSpec& model,
                                  const std::shared_ptr<data::DataPool>& pool) {
  const data::DataOptions options = run::data_options(spec);
  data::DataSplit split =
      about_field("data", [&] { return pool ? pool->open(spec.data, options) : data::open_data(spec.data, options); });
  about_field("model", [&] { run::check_fits(model, split.train->shape()); });
  if (!run::kind_of(model).masked)
    return split;
  const std::int64_t mask = run::mask_token(model, split.train->shape());
  for (std::shared_ptr<const data::Dataset>* part : {&split.train, &split.validation})
    if (*part)
      *part = data::with_masked_tokens(std::move(*part), mask, spec.seed);
  return split;
}

/// The boundary of core: converts LibTorch's exceptions to Error, without stack traces.
template <typename Function> auto translated(Function&& function) -> decltype(function()) {
  try {
    return function();
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw memory::failure(error);
  }
}

std::string streams_note(const std::vector<data::Stream>& streams, std::size_t clock) {
  std::string text;
  for (const data::Stream& stream : streams)
    text += fmt::format("{}{} ({} examples)", text.empty() ? "" : ", ", stream.name, format_count(stream.examples));
  return fmt::format("data streams: {}; an epoch is a pass over {}", text, streams[clock].name);
}

class TrainingSession final : public run::Session {
public:
  TrainingSession(const run::RunSpec& spec, const std::shared_ptr<data::DataPool>& pool)
      : spec_((check(spec), spec)), model_(run::parse_model(spec.model)), data_(open_checked_data(spec, model_, pool)) {
    check_sizes();
    apply_torch_settings(); // before the first tensor
    use_tf32(spec_.precision == "tf32");
    about_field("device", [&] { device_ = memory::open_device(spec_.device, spec_.memory_budget); });
    learner_ = std::make_unique<Learner>(spec_, data_, *device_);
    device_->release_cache();
    baseline_ = device_->readings().in_use;
    learner_->warm_up();
    if (spec_.batch.kind == run::BatchChoice::Kind::number)
      batch_ = spec_.batch.number;
  }

  const run::RunSpec& spec() const override { return spec_; }
  std::int64_t examples() const override { return data_.train->size(); }
  const data::DataSplit& data() const override { return data_; }
  std::uint64_t budget_bytes() const override { return device_->readings().limit; }
  run::Environment environment() const override {
    run::Environment environment = run::environment_here();
    environment.libtorch = TORCH_VERSION;
    environment.device = device_->product();
    environment.driver = device_->driver();
    environment.threads = at::get_num_threads();
    environment.seed = static_cast<std::int64_t>(spec_.seed);
    if (const auto checksum = data_.train->checksum())
      environment.data_checksum = fmt::format("{:08x}", *checksum);
    return environment;
  }
  std::int64_t largest_batch() const override {
    const std::int64_t largest = data::largest_batch(sampler_options());
    const std::int64_t most = std::min(largest, spec_.max_batch.value_or(largest));
    return std::min(most, spec_.effective_batch.value_or(most));
  }

  search::SearchResult find(const SearchOptions& options, const ProbeSink& on_probe) override {
    return translated([&] { return search(options, on_probe); });
  }
  std::optional<predict::PeakCurve> predict_memory(const std::function<bool()>& stop) override {
    return translated([&] { return predict(stop); });
  }
  void choose_batch(std::int64_t batch, const std::string& reason) override {
    if (batch < 1 || batch > largest_batch())
      throw input_error("--batch: " + std::to_string(batch) + " is not accepted; accepted: 1 to " +
                            std::to_string(largest_batch()),
                        "batch");
    batch_ = batch;
    batch_reason_ = reason;
    plan_.reset();
  }
  run::RunStart start() const override {
    const run::RunPlan& planned = plan();
    run::RunStart start;
    start.batch = *batch_;
    start.batch_reason = batch_reason_;
    start.accumulate = spec_.accumulate;
    start.train_examples = examples();
    start.streams = data_.train->streams();
    start.validation_examples = data_.validation ? data_.validation->size() : 0;
    start.card = card_of(spec_.device);
    start.parameters = learner_->parameter_count();
    start.predicts_numbers = !learner_->has_accuracy();
    start.budget_bytes = device_->readings().limit;
    start.baseline_bytes = baseline_;
    start.learning_rate = run::learning_rate_or_default(spec_);
    start.warmup_steps = planned.options.learning_rate.warmup_steps;
    start.expected_steps = planned.steps;
    if (has_batch_norm())
      start.notes.emplace_back(
          "batch norm uses the statistics of a micro batch, so splitting a batch, by accumulation or "
          "after an out-of-memory error, changes the result");
    if (!start.streams.empty())
      start.notes.push_back(streams_note(start.streams, planned.options.sampler.clock));
    if (!run::parse_warmup(spec_.warmup, "--warmup"))
      start.notes.emplace_back("automatic warm-up: " + format_count(start.warmup_steps) + " steps");
    return start;
  }
  telemetry::RunOutcome run(telemetry::Sink& sink, run::RunControl& control) override {
    return translated(
        [&] { return Loop(loop_options(), *learner_, sink, control, resumption_ ? &*resumption_ : nullptr).run(); });
  }

  void set_place(const run::RunPlace& place) override {
    if (run::keeps_checkpoints(spec_))
      checkpoints_ = {
          .folder = checkpoint::folder_of_run(place.database, place.uid),
          .label = {.run = place.uid, .spec_json = place.spec_json, .data_checksum = environment().data_checksum},
          .before_writing = place.flush,
          .every = spec_.checkpoint_every,
          .minutes = spec_.checkpoint_minutes};
  }
  void restore(const checkpoint::Checkpoint& checkpoint, const telemetry::Resumed& report) override {
    translated([&] {
      Resumption resumption{loop_state(checkpoint), report};
      schedule::Progression(loop_options().progression).restore(resumption.state.plan);
      learner_->restore(checkpoint); // last: the rest changes nothing
      resumption_ = std::move(resumption);
    });
  }

private:
  bool has_batch_norm() const { return run::has_batch_norm(model_) || learner_->has_own_batch_norm(); }
  bool has_tokens() const { return data_.train->shape().input == data::ExampleShape::Input::tokens; }

  data::SamplerOptions sampler_options() const {
    return run::sampler_options(spec_, data::count_examples(*data_.train));
  }

  TrialOptions trial_options(const std::function<bool()>& stop) const {
    return {.sampler = sampler_options(),
            .seed = spec_.seed,
            .learning_rate = run::learning_rate_or_default(spec_),
            .weight_decay = run::weight_decay_or_default(spec_),
            .clip = spec_.clip,
            .stop = stop};
  }

  search::SearchResult search(const SearchOptions& options, const ProbeSink& on_probe) {
    const search::FinderOptions finder_options{.start = options.start,
                                               .factor = options.factor,
                                               .max_batch = largest_batch(),
                                               .margin = options.margin,
                                               .budget_bytes = device_->readings().limit,
                                               .memory = dry_predictor()};
    const auto finder = search::make_finder(options.strategy, finder_options);
    const auto begin = std::chrono::steady_clock::now();
    LearnerTrials trials(*learner_, trial_options(options.stop));
    search::SearchResult result = search::run_search(*finder, trials, finder_options, on_probe, options.stop);
    result.baseline_bytes = baseline_;
    device_->release_cache();
    if (result.found && !result.interrupted && options.timings)
      time_sizes(trials, options, result);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    return result;
  }

  /// Null if no GPU like that of the session can be pretended, and if an operator has no kernel for a dry run.
  std::shared_ptr<const predict::PeakPredictor> dry_predictor() const {
    if (largest_batch() < 2)
      return nullptr;
    try {
      const data::ExampleShape shape = data::longest_shape(*data_.train);
      std::unique_ptr<run::DryRun> dry_run;
      if (device_->kind() == memory::DeviceKind::cuda)
        dry_run = std::make_unique<run::CardRun>(std::make_shared<pretended_gpu::Helper>(),
                                                 memory::like_gpu(device_->index()), spec_, shape, examples());
      else
        dry_run = make_dry_run(spec_, shape, examples());
      return std::make_shared<const run::DryRunPredictor>(std::move(dry_run), device_->readings().limit,
                                                          largest_batch());
    } catch (const Error&) {
      return nullptr;
    }
  }

  std::optional<predict::PeakCurve> predict(const std::function<bool()>& stop) {
    if (device_->kind() == memory::DeviceKind::cpu) // a GPU may ask for more than is known, as cuDNN's workspaces
      if (const auto predictor = dry_predictor())
        return predict::PeakCurve(predictor->model(), largest_batch(), run::dry_run_error);
    const auto stopping = [&] { return stop && stop(); };
    LearnerTrials trials(*learner_, trial_options({}));
    std::vector<search::Probe> probes;
    for (std::int64_t size = std::min(largest_prediction_probe, largest_batch()); size >= 1 && probes.size() < 2;
         size /= 2) {
      if (stopping())
        break;
      search::Probe probe = trials.run({size, true, std::nullopt});
      if (probe.outcome == search::Outcome::error)
        break;
      if (probe.outcome == search::Outcome::fits)
        probes.push_back(std::move(probe));
    }
    device_->release_cache();
    return search::curve_of(probes, largest_batch());
  }

  /// Counting the steps of a long plan takes a while, so it is done once.
  const run::RunPlan& plan() const {
    if (!batch_)
      throw input_error("--batch: a size must be chosen before the run starts", "batch");
    if (!plan_)
      plan_ = run::plan_run(spec_, data::count_examples(*data_.train), *batch_);
    return *plan_;
  }

  LoopOptions loop_options() const {
    LoopOptions options;
    options.progression = plan().options;
    options.progression.has_tokens = has_tokens();
    options.weight_decay = run::weight_decay_or_default(spec_);
    options.dropout = spec_.dropout;
    options.regularization = schedule::parse_regularization(spec_.regularization_rule);
    options.clip = spec_.clip;
    options.on_oom = spec_.on_oom;
    options.evaluate_every = spec_.evaluate_every;
    options.max_seconds = spec_.max_seconds;
    options.target_score = spec_.target_score;
    options.noise_every = spec_.noise_every;
    options.may_halve = !has_batch_norm();
    options.grow_back = spec_.grow_back;
    if (!spec_.memory_budget)
      options.follow_free_memory = std::chrono::seconds(1);
    options.checkpoints = checkpoints_;
    options.seed = spec_.seed;
    options.group_by_length = spec_.group_by_length;
    options.save = spec_.save;
    return options;
  }

  /// Measures throughput to find the recommended size.
  void time_sizes(LearnerTrials& trials, const SearchOptions& options, search::SearchResult& result) {
    search::time_sizes(
        result, [&](std::int64_t batch) { return trials.time(batch); }, options.on_timing, options.stop);
    device_->release_cache();
    if (const auto size = search::recommended_or_fastest(result))
      result.automatic = std::min(*size, run::largest_automatic(sampler_options()));
  }

  void check_sizes() const {
    const std::int64_t largest = data::largest_batch(sampler_options());
    const auto check_size = [&](const char* option, const char* field, std::int64_t size) {
      if (size > largest)
        throw input_error(fmt::format("{}: {} is above the {} training examples{}", option, size, largest,
                                      data_.train->streams().empty() ? "" : " that an epoch of the clock stream takes"),
                          field);
    };
    if (spec_.effective_batch)
      check_size("--effective-batch", "effective_batch", *spec_.effective_batch);
    if (spec_.batch.kind == run::BatchChoice::Kind::number)
      check_size("--batch", "batch", spec_.batch.number);
    // A wrong schedule is reported before anything is created. If the batch is still to be found, the schedule is
    // checked with batch 1, which is wrong only for a schedule that names its own first batch.
    const bool known = spec_.batch.kind == run::BatchChoice::Kind::number;
    if (!known && schedule::first_batch_of(spec_.schedule))
      return;
    schedule::Progression({.sampler = sampler_options(),
                           .length = spec_.length,
                           .batch = known ? spec_.batch.number : 1,
                           .max_batch = spec_.max_batch,
                           .schedule = spec_.schedule,
                           .learning_rate = {},
                           .shares = spec_.shares,
                           .has_tokens = has_tokens()});
  }

  run::RunSpec spec_;
  run::ModelSpec model_;
  data::DataSplit data_;
  std::unique_ptr<memory::Device> device_;
  std::unique_ptr<Learner> learner_;
  std::optional<std::int64_t> batch_;
  std::string batch_reason_; ///< set if a search chose it
  std::uint64_t baseline_ = 0;
  std::optional<CheckpointOptions> checkpoints_;
  std::optional<Resumption> resumption_;     ///< if the run goes on from a checkpoint
  mutable std::optional<run::RunPlan> plan_; ///< of batch_, computed on first use
};

} // namespace

std::unique_ptr<run::Session> open_session(const run::RunSpec& spec, const std::shared_ptr<data::DataPool>& pool) {
  return translated([&] { return std::make_unique<TrainingSession>(spec, pool); });
}

} // namespace batchscope::train
