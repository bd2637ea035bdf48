#include "core/advice/snippet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/schedule/learning_rate.h"

namespace batchscope::advice {

namespace {

void need(bool known, const RunFacts& run, const char* what) {
  if (!known)
    throw input_error(fmt::format("run {} was made by another program, and its {} is not known; accepted: a run of "
                                  "this program, or an imported one with its batch and learning rate",
                                  run.row.id, what));
}

void divide(Settings& settings, const RunFacts& run) {
  const std::int64_t effective = *run.effective_batch;
  const std::int64_t most = std::clamp<std::int64_t>(run.micro_batch.value_or(*run.batch), 1, effective);
  settings.accumulate = (effective + most - 1) / most;
  settings.micro_batch = (effective + settings.accumulate - 1) / settings.accumulate;
  const std::int64_t product = settings.micro_batch * settings.accumulate;
  if (product != effective)
    settings.remarks.push_back(
        fmt::format("The effective batch was {}; with equal micro batches it is {}.", effective, product));
  if (run.last_effective.value_or(effective) > effective)
    settings.remarks.push_back(fmt::format(
        "The effective batch grew from {} to {} in the run; here it keeps the first.", effective, *run.last_effective));
}

void take_spec(Settings& settings, const RunFacts& run) {
  const run::RunSpec& spec = *run.own;
  const auto regularization = schedule::parse_regularization(spec.regularization_rule);
  if (spec.lr_rule == "adascale")
    settings.remarks.emplace_back(
        "The learning rate followed the measured gradient noise (AdaScale) in the run; here it "
        "is that of the reference batch.");
  settings.decay = spec.lr_decay;
  settings.optimizer = spec.optimizer;
  settings.momentum = spec.optimizer == "sgd" ? run::momentum_or_default(spec) : 0;
  settings.weight_decay = schedule::scaled_weight_decay(run::weight_decay_or_default(spec), regularization,
                                                        *run.effective_batch, *run.reference_batch);
  settings.label_smoothing = spec.label_smoothing;
  settings.clip = spec.clip;
  settings.seed = static_cast<std::int64_t>(spec.seed);
  settings.drop_last = spec.drop_last;
  settings.epochs = spec.length.epochs;
  if (spec.length.steps)
    settings.steps = *spec.length.steps;
  const double dropout =
      schedule::scaled_dropout(spec.dropout, regularization, *run.effective_batch, *run.reference_batch);
  if (dropout > 0)
    settings.remarks.push_back(fmt::format("The run used dropout {:g}, which belongs to the model.", dropout));
}

/// `cosine` of a Trainer, `CosineAnnealingLR` of PyTorch; nothing for one that snippets do not have.
std::optional<std::string> decay_of(const std::string& scheduler) {
  if (scheduler == "linear" || scheduler == "cosine")
    return scheduler;
  if (scheduler == "CosineAnnealingLR")
    return "cosine";
  if (scheduler == "constant" || scheduler == "constant_with_warmup" || scheduler == "ConstantLR")
    return "constant";
  return std::nullopt;
}

/// Takes over the settings that a program of the user's own has declared; snippets have the most common of them.
void take_told(Settings& settings, const RunFacts& run) {
  const Json& declared = run.declared;
  const auto number = [&](const char* name) {
    const auto found = declared.find(name);
    return found != declared.end() && found->is_number() ? found->get<double>() : 0.0;
  };
  constexpr std::array<std::string_view, 4> written{"sgd", "adam", "adamw", "rmsprop"};
  if (std::find(written.begin(), written.end(), run.optimizer) != written.end())
    settings.optimizer = run.optimizer;
  else
    settings.remarks.push_back(fmt::format("The run's optimizer is {}; here it is AdamW.",
                                           run.optimizer.empty() ? "not known" : one_line(run.optimizer)));
  const auto named = declared.find("lr_scheduler_type");
  const std::string scheduler =
      named != declared.end() && named->is_string() ? named->get<std::string>() : std::string();
  if (const auto decay = decay_of(scheduler))
    settings.decay = *decay;
  else
    settings.remarks.push_back(
        fmt::format("The learning rate follows {} of the run's program; here it is constant after the warm-up.",
                    scheduler.empty() ? "the scheduler, if any," : one_line(scheduler)));
  settings.momentum = number("momentum");
  settings.weight_decay = number("weight_decay");
  settings.label_smoothing = number("label_smoothing");
  if (const double clip = number("max_grad_norm"); clip > 0)
    settings.clip = clip;
  if (const auto seed = declared.find("seed"); seed != declared.end() && seed->is_number_unsigned())
    settings.seed = static_cast<std::int64_t>(std::min<std::uint64_t>(seed->get<std::uint64_t>(), 0xffffffffU));
  settings.drop_last = run.start.program && run.start.program->drop_last;
}

/// Optimizer steps of the same examples with the fixed batch.
std::int64_t steps_of(const Settings& settings, const RunFacts& run) {
  const double effective = static_cast<double>(settings.micro_batch * settings.accumulate);
  if (settings.epochs && run.train_examples) {
    const double in_epoch = std::ceil(static_cast<double>(*run.train_examples) / effective);
    return std::llround(in_epoch) * *settings.epochs;
  }
  if (run.own && run.own->length.examples)
    return std::llround(std::ceil(static_cast<double>(*run.own->length.examples) / effective));
  return std::max<std::int64_t>(run.start.expected_steps.value_or(run.row.outcome.steps), 1);
}

} // namespace

Settings settings_of(const RunFacts& run) {
  need(run.batch && run.effective_batch, run, "batch");
  need(run.first_rate.has_value(), run, "learning rate");
  Settings settings;
  settings.learning_rate = *run.first_rate;
  settings.warmup_steps = run.warmup_steps.value_or(0);
  settings.precision = run.precision;
  settings.checkpointing = run.checkpointing;
  settings.predicts_numbers = run.start.predicts_numbers;
  divide(settings, run);
  if (run.own)
    take_spec(settings, run);
  else if (run.epochs && *run.epochs >= 1)
    settings.epochs = std::llround(*run.epochs);
  if (!run.declared.empty())
    take_told(settings, run);
  if (run.rate_of_steps)
    settings.remarks.push_back(fmt::format(
        "The learning rate is the highest one of the run's steps{}.",
        run.declared.empty() ? "; its decay and warm-up, and the optimizer's settings, are those of the run's program"
                             : ""));
  if (run.ema)
    settings.remarks.push_back(fmt::format("The run averaged its weights (EMA, decay {}); update the average once per "
                                           "optimizer step.",
                                           *run.ema));
  if (settings.steps == 0)
    settings.steps = steps_of(settings, run);
  if (const auto ratio = run.declared.find("warmup_ratio"); ratio != run.declared.end() && ratio->is_number())
    settings.warmup_steps =
        std::llround(std::ceil(std::clamp(ratio->get<double>(), 0.0, 1.0) * static_cast<double>(settings.steps)));
  const std::string name = run.row.name.empty() ? "" : fmt::format(" ({})", one_line(run.row.name));
  settings.heading =
      fmt::format("Run {}{} of BatchScope: {} x {} = {} examples per optimizer step on 1 device", run.row.id, name,
                  settings.micro_batch, settings.accumulate, settings.micro_batch * settings.accumulate);
  return settings;
}

#define SNIPPET(name) std::unique_ptr<Snippet> name##_snippet();
#include "core/advice/snippets.def"
#undef SNIPPET

std::vector<std::unique_ptr<Snippet>> snippets() {
  std::vector<std::unique_ptr<Snippet>> all;
#define SNIPPET(name) all.push_back(name##_snippet());
#include "core/advice/snippets.def"
#undef SNIPPET
  return all;
}

std::vector<std::string> snippet_names() {
  std::vector<std::string> names;
  for (const auto& snippet : snippets())
    names.push_back(snippet->name());
  return names;
}

std::unique_ptr<Snippet> make_snippet(const std::string& name) {
  for (auto& snippet : snippets())
    if (snippet->name() == name)
      return std::move(snippet);
  throw input_error(
      fmt::format("--for: {} is not accepted; accepted: {}", in_quotes(name), fmt::join(snippet_names(), ", ")));
}

} // namespace batchscope::advice
