// The table of a run's fields: a new field is a member of RunSpec and a row here.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/data/dataset.h"
#include "core/run/detail/field_checks.h"
#include "core/run/detail/field_forms.h"
#include "core/run/detail/field_member.h"
#include "core/run/model_spec.h"
#include "core/run/spec_fields.h"
#include "core/schedule/schedule_kind.h"

namespace batchscope::run {

namespace {

template <typename Form, typename Given> std::shared_ptr<const FieldMember> as(Given RunSpec::*member) {
  return std::make_shared<MemberOf<Form, RunSpec, Given>>(member);
}

/// The lengths replace each other: a run has exactly one.
class LengthMember final : public MemberOf<IntegerForm, schedule::RunLength, std::optional<std::int64_t>> {
public:
  using MemberOf::MemberOf;

  void set_text(RunSpec& spec, const std::string& text, const SpecField& field) const override {
    const std::int64_t given = IntegerForm::from_text(text, field);
    spec.length = {};
    value_in(spec) = given;
  }
  void set_default(RunSpec& spec) const override {
    if (value_in(spec))
      spec.length = RunSpec{}.length;
  }
};

constexpr Bounds at_least_one{.least = 1};
constexpr Bounds above_zero{.least = 0, .includes_least = false};
constexpr Bounds fraction{.least = 0, .below = 1};

std::string range_of(const SpecField& field) {
  const auto& [least, includes_least, below] = field.bounds;
  if (!std::isfinite(least))
    return {};
  const std::string lowest = field.kind == SpecField::Kind::bytes ? SizeForm::text(static_cast<std::uint64_t>(least))
                                                                  : fmt::format("{}", least);
  return (includes_least ? "at least " : "above ") + lowest +
         (std::isfinite(below) ? fmt::format(" and below {}", below) : "");
}

std::vector<std::string> model_examples() {
  std::vector<std::string> examples{RunSpec{}.model};
  for (const ModelKind& kind : model_kinds()) {
    if (!kind.script)
      examples.emplace_back(kind.example);
  }
  return examples;
}

std::vector<std::string> model_forms() {
  std::vector<std::string> forms;
  for (const ModelKind& kind : model_kinds())
    if (!kind.script)
      forms.push_back(std::string(kind.example) + (kind.has_norm ? ",norm=group (or batch)" : ""));
  return forms;
}

/// One of each kind, for a small run.
std::vector<std::string> schedule_examples() {
  constexpr std::int64_t batch = 16;
  constexpr std::int64_t steps = 100;
  constexpr double epochs = 8;
  std::vector<std::string> examples;
  for (const schedule::ScheduleKind* kind : schedule::schedule_kinds())
    examples.push_back(kind->example(batch, steps, epochs));
  return examples;
}

/// Fills in what follows from the rest of each row.
std::vector<SpecField> completed(std::vector<SpecField> fields) {
  for (SpecField& field : fields) {
    field.kind = field.member->kind();
    field.option = "--" + field.key;
    std::replace(field.option.begin(), field.option.end(), '_', '-');
    if (field.range.empty())
      field.range = range_of(field);
  }
  return fields;
}

} // namespace

// A table, hence longer than functions should be.
const std::vector<SpecField>& spec_fields() {
  static const std::vector<SpecField> fields = completed({
      {.key = "name",
       .member = as<LineForm>(&RunSpec::name),
       .label = "Name",
       .placeholder = "TEXT",
       .help = "Name of the run; in a sweep, the prefix of its runs' names",
       .group = "Model and data",
       .for_programs = true},
      {.key = "model",
       .member = as<TextForm>(&RunSpec::model),
       .label = "Model",
       .placeholder = "MODEL",
       .choices = model_examples(),
       .help = fmt::format(
           "Built-in model and its sizes: {}; or your own, saved by torch.jit.save(): torchscript:FILE (for "
           "text torchscript:FILE,context=128)",
           fmt::join(model_forms(), ", ")),
       .default_text = "cnn",
       .group = "Model and data",
       .check = check_model},
      {.key = "data",
       .member = as<TextForm>(&RunSpec::data),
       .label = "Data",
       .placeholder = "DATA",
       .choices = {"demo", "synthetic:examples=1000,shape=3x32x32,classes=10", "synthetic:examples=1000,vocabulary=65"},
       .help = fmt::format("Training data: {}; each accepts validation=0.2, the fraction held out for validation; "
                           "a=SOURCE,b=SOURCE mixes several streams in every batch",
                           fmt::join(data::data_forms(), ", ")),
       .default_text = "demo",
       .group = "Model and data",
       .check = check_data},
      {.key = "augment",
       .member = as<TextForm>(&RunSpec::augment),
       .label = "Augmentation",
       .placeholder = "CHANGES",
       .choices = {"none", "flip", "flip,shift:2"},
       .help =
           "Random changes of training images, drawn anew for each example and epoch: some of flip (left to right), "
           "shift:PIXELS (by up to so many) and crop:PIXELS (a random square part; evaluations use the middle)",
       .default_text = "none",
       .group = "Model and data",
       .advanced = true,
       .check = check_augment},
      {.key = "shares",
       .member = as<TextForm>(&RunSpec::shares),
       .label = "Shares of the streams",
       .placeholder = "SHARES",
       .help = "Shares of several data streams in the batch: a=0.7,b=0.3; other ones after some optimizer steps: "
               "a=0.9,b=0.1,100:a=0.5,b=0.5; changing at every step in between: linear:a=0.9,b=0.1,100:a=0.5,b=0.5; "
               "following each stream's loss: loss:a=0.7,b=0.3",
       .default_text = "in proportion to the streams' examples",
       .group = "Model and data",
       .advanced = true,
       .check = check_stream_shares},
      {.key = "clock",
       .member = as<TextForm>(&RunSpec::clock),
       .label = "Clock stream",
       .placeholder = "NAME",
       .help = "With several data streams, the one that defines the run's epochs; the others restart when they are "
               "exhausted",
       .default_text = "the first stream",
       .group = "Model and data",
       .advanced = true,
       .check = check_clock},
      {.key = "group_by_length",
       .member = as<FlagForm>(&RunSpec::group_by_length),
       .label = "Group examples by length",
       .help = "Let examples of similar length follow each other, which saves padding (lines:FILE only): each epoch's "
               "order is sorted by length in blocks of 2,048 examples or an eighth of the epoch",
       .default_text = "false",
       .group = "Model and data",
       .advanced = true,
       .check = check_group_by_length},
      {.key = "init",
       .member = as<TextForm>(&RunSpec::init),
       .label = "Initial weights",
       .placeholder = "FILE",
       .help = "File of the weights to begin with (safetensors), with the names that the model's tensors have in "
               "PyTorch; bert, vit and llama take those that transformers saves",
       .default_text = "drawn from the seed",
       .group = "Model and data",
       .advanced = true},
      {.key = "save",
       .member = as<TextForm>(&RunSpec::save),
       .label = "Save weights to",
       .placeholder = "FILE",
       .help = "New file for the weights at the end of the run, also if it is stopped (safetensors); with --ema the "
               "averaged ones",
       .default_text = "not saved",
       .group = "Model and data",
       .advanced = true},
      {.key = "task",
       .member = as<ChoiceForm>(&RunSpec::task),
       .label = "Training type",
       .placeholder = "TASK",
       .choices = {"scratch", "fine-tuning"},
       .help = "A label for your records: from scratch or fine-tuning; does not affect training",
       .default_text = "scratch",
       .group = "Model and data",
       .advanced = true},
      {.key = "seed",
       .member = as<SeedForm>(&RunSpec::seed),
       .label = "Seed",
       .placeholder = "N",
       .range = "0 to 2^63 - 1",
       .help = "Random seed for the weights, the order of the examples and dropout",
       .default_text = "1",
       .group = "Model and data",
       .advanced = true,
       .for_programs = true,
       .check = check_seed},
      {.key = "evaluate_every",
       .member = as<EvaluationForm>(&RunSpec::evaluate_every),
       .label = "Evaluate every",
       .placeholder = "STEPS|PERCENT",
       .unit = "steps",
       .range = "at least 1, or a share of an epoch such as 10%",
       .help = "Optimizer steps, or share of an epoch such as 10%, between two evaluations on the validation examples, "
               "besides those at the end of each epoch and of the run; does not affect training",
       .default_text = "only at the end of each epoch",
       .group = "Model and data",
       .advanced = true},
      {.key = "checkpoint_every",
       .member = as<IntegerForm>(&RunSpec::checkpoint_every),
       .label = "Checkpoint every",
       .placeholder = "STEPS",
       .unit = "steps",
       .bounds = at_least_one,
       .help =
           "Optimizer steps between two checkpoints, from which a run that was interrupted or stopped can be resumed "
           "exactly; also one at each best evaluation and at the end; does not affect training",
       .default_text = "no checkpoints",
       .group = "Model and data",
       .advanced = true},
      {.key = "checkpoint_minutes",
       .member = as<RealForm>(&RunSpec::checkpoint_minutes),
       .label = "Checkpoint interval",
       .placeholder = "MINUTES",
       .unit = "minutes",
       .bounds = above_zero,
       .help = "Minutes between two checkpoints, instead of or besides the steps",
       .default_text = "no checkpoints by time",
       .group = "Model and data",
       .advanced = true},
      {.key = "batch",
       .member = as<BatchForm>(&RunSpec::batch),
       .label = "Batch size",
       .placeholder = "N",
       .unit = "examples",
       .range = "at least 1",
       .choices = {"auto", "auto:recommended", "auto:safe", "auto:largest"},
       .help = "First batch size, or a size found by a search before training: auto:recommended, auto:safe, "
               "auto:largest, 50% (of the largest), or auto (recommended, reduced if an epoch would have fewer than 20 "
               "steps)",
       .default_text = "auto",
       .group = "Batch size",
       .for_programs = true,
       .check = check_batch},
      {.key = "accumulate",
       .member = as<IntegerForm>(&RunSpec::accumulate),
       .label = "Gradient accumulation",
       .placeholder = "K",
       .unit = "batches",
       .bounds = at_least_one,
       .help = "Gradient accumulation steps: nominal batches per optimizer step",
       .default_text = "1",
       .group = "Batch size",
       .for_programs = true,
       .alternatives = {"effective_batch"}},
      {.key = "effective_batch",
       .member = as<IntegerForm>(&RunSpec::effective_batch),
       .label = "Effective batch",
       .placeholder = "B",
       .unit = "examples",
       .bounds = at_least_one,
       .help = "Examples per optimizer step, independent of what fits in memory; cannot be combined with accumulation",
       .default_text = "batch size x accumulation x ranks",
       .group = "Batch size",
       .advanced = true,
       .alternatives = {"accumulate"},
       .derived = derived_effective_batch,
       .check = check_effective_batch},
      {.key = "schedule",
       .member = as<TextForm>(&RunSpec::schedule),
       .label = "Batch size schedule",
       .placeholder = "S",
       .choices = schedule_examples(),
       .help = "How the batch size changes during training",
       .default_text = "constant",
       .group = "Batch size",
       .for_programs = true,
       .check = check_schedule},
      {.key = "max_batch",
       .member = as<IntegerForm>(&RunSpec::max_batch),
       .label = "Maximum batch size",
       .placeholder = "M",
       .unit = "examples",
       .bounds = at_least_one,
       .help = "Upper limit on the batch size for searches and schedules",
       .default_text = "the number of training examples",
       .group = "Batch size",
       .advanced = true,
       .for_programs = true,
       .check = check_max_batch},
      {.key = "drop_last",
       .member = as<FlagForm>(&RunSpec::drop_last),
       .label = "Drop last incomplete batch",
       .help = "Drop the examples at the end of an epoch that do not fill a batch on every rank",
       .default_text = "false",
       .group = "Batch size",
       .advanced = true},
      {.key = "margin",
       .member = as<RealForm>(&RunSpec::margin),
       .label = "Safety margin",
       .placeholder = "FRACTION",
       .bounds = fraction,
       .help = "Fraction of the memory budget that the safe batch size leaves free",
       .default_text = "0.2",
       .group = "Batch size",
       .advanced = true,
       .for_programs = true},
      {.key = "noise_every",
       .member = as<IntegerForm>(&RunSpec::noise_every),
       .label = "Measure noise scale every",
       .placeholder = "STEPS",
       .unit = "steps",
       .bounds = at_least_one,
       .help = "Optimizer steps between two measurements of the gradient noise scale, the effective batch size above "
               "which larger batches save few further steps; a step of one micro batch is run as two halves to "
               "measure it",
       .default_text = "10, without accumulation 20; only if the schedule or --lr-rule needs it",
       .group = "Batch size",
       .advanced = true},
      {.key = "epochs",
       .member = std::make_shared<LengthMember>(&schedule::RunLength::epochs),
       .label = "Epochs",
       .placeholder = "E",
       .unit = "epochs",
       .bounds = at_least_one,
       .help = "Length of the run in epochs",
       .default_text = "1 if no other length is given",
       .group = "Length",
       .alternatives = {"examples", "steps"},
       .check = check_length},
      {.key = "examples",
       .member = std::make_shared<LengthMember>(&schedule::RunLength::examples),
       .label = "Examples",
       .placeholder = "X",
       .unit = "examples",
       .bounds = at_least_one,
       .help = "Length of the run in examples",
       .group = "Length",
       .alternatives = {"epochs", "steps"}},
      {.key = "steps",
       .member = std::make_shared<LengthMember>(&schedule::RunLength::steps),
       .label = "Steps",
       .placeholder = "S",
       .unit = "steps",
       .bounds = at_least_one,
       .help = "Length of the run in optimizer steps",
       .group = "Length",
       .alternatives = {"epochs", "examples"}},
      {.key = "max_seconds",
       .member = as<RealForm>(&RunSpec::max_seconds),
       .label = "At most",
       .placeholder = "SECONDS",
       .unit = "seconds",
       .bounds = above_zero,
       .help = "Finish the run before its training time, without evaluations, passes this many seconds, even if its "
               "length is not reached",
       .default_text = "no limit",
       .group = "Length",
       .advanced = true,
       .for_programs = true},
      {.key = "target_score",
       .member = as<RealForm>(&RunSpec::target_score),
       .label = "Target score",
       .placeholder = "X",
       .bounds = above_zero,
       .help = "Finish the run at the first evaluation with at least this accuracy, such as 0.97, or, of data without "
               "classes, at most this loss",
       .default_text = "no target",
       .group = "Length",
       .advanced = true},
      {.key = "optimizer",
       .member = as<ChoiceForm>(&RunSpec::optimizer),
       .label = "Optimizer",
       .placeholder = "NAME",
       .choices = {"adamw", "adam", "sgd", "rmsprop"},
       .help = "Optimizer that updates the weights",
       .default_text = "adamw",
       .group = "Optimizer"},
      {.key = "lr",
       .member = as<RealForm>(&RunSpec::learning_rate),
       .label = "Learning rate",
       .placeholder = "X",
       .bounds = above_zero,
       .help = "Learning rate at the reference batch size",
       .default_text = "0.001; 0.1 for sgd",
       .group = "Optimizer",
       .derived = derived_learning_rate},
      {.key = "momentum",
       .member = as<RealForm>(&RunSpec::momentum),
       .label = "Momentum",
       .placeholder = "X",
       .bounds = fraction,
       .help = "Momentum (sgd only)",
       .default_text = "0.9 for sgd",
       .group = "Optimizer",
       .advanced = true,
       .derived = derived_momentum,
       .check = check_momentum},
      {.key = "lr_rule",
       .member = as<ChoiceForm>(&RunSpec::lr_rule),
       .label = "Scale learning rate with batch",
       .placeholder = "RULE",
       .choices = {"none", "linear", "sqrt", "adascale"},
       .help = "How the learning rate scales with the effective batch size; adascale measures the gradient noise, and "
               "counts --steps as steps at the reference batch size",
       .default_text = "none",
       .group = "Optimizer",
       .for_programs = true},
      {.key = "lr_reference_batch",
       .member = as<IntegerForm>(&RunSpec::lr_reference_batch),
       .label = "Reference batch size",
       .placeholder = "B",
       .unit = "examples",
       .bounds = at_least_one,
       .help = "Effective batch size at which the learning rate is not scaled",
       .default_text = "the first effective batch",
       .group = "Optimizer",
       .advanced = true,
       .for_programs = true,
       .derived = derived_reference_batch},
      {.key = "lr_decay",
       .member = as<ChoiceForm>(&RunSpec::lr_decay),
       .label = "Learning rate decay",
       .placeholder = "DECAY",
       .choices = {"constant", "cosine", "linear", "step"},
       .help = "Decay of the learning rate after the warm-up (cosine and linear: to 0; step: x 0.1 after each third)",
       .default_text = "constant",
       .group = "Optimizer"},
      {.key = "warmup",
       .member = as<StepsForm>(&RunSpec::warmup),
       .label = "Warm-up steps",
       .placeholder = "STEPS",
       .unit = "steps",
       .range = "at least 0",
       .choices = {"0", "auto"},
       .help = "Steps over which the learning rate rises from 0, or auto (from the ratio of effective batch to "
               "reference batch)",
       .default_text = "0",
       .group = "Optimizer",
       .check = check_warmup},
      {.key = "clip",
       .member = as<RealForm>(&RunSpec::clip),
       .label = "Max gradient norm",
       .placeholder = "X",
       .bounds = above_zero,
       .help = "Maximum gradient norm; larger gradients are scaled down to it",
       .default_text = "no limit",
       .group = "Optimizer",
       .advanced = true},
      {.key = "weight_decay",
       .member = as<RealForm>(&RunSpec::weight_decay),
       .label = "Weight decay",
       .placeholder = "X",
       .bounds = {.least = 0},
       .help = "Weight decay: decoupled for adamw, L2 penalty for the others",
       .default_text = "0.01 for adamw, else 0",
       .group = "Regularization",
       .derived = derived_weight_decay},
      {.key = "dropout",
       .member = as<RealForm>(&RunSpec::dropout),
       .label = "Dropout",
       .placeholder = "P",
       .bounds = fraction,
       .help = "Probability that a unit is zeroed in a training step",
       .default_text = "0",
       .group = "Regularization",
       .check = check_dropout},
      {.key = "label_smoothing",
       .member = as<RealForm>(&RunSpec::label_smoothing),
       .label = "Label smoothing",
       .placeholder = "X",
       .bounds = fraction,
       .help = "Fraction of the target probability spread over the classes",
       .default_text = "0",
       .group = "Regularization",
       .advanced = true},
      {.key = "regularization_rule",
       .member = as<ChoiceForm>(&RunSpec::regularization_rule),
       .label = "Scale regularization with batch",
       .placeholder = "RULE",
       .choices = {"none", "sqrt"},
       .help = "How weight decay and dropout scale with the effective batch size",
       .default_text = "none",
       .group = "Regularization",
       .advanced = true},
      {.key = "batch_norm_rule",
       .member = as<ChoiceForm>(&RunSpec::batch_norm_rule),
       .label = "Batch norm momentum with batch",
       .placeholder = "RULE",
       .choices = {"none", "inverse"},
       .help = "How the momentum of batch norm's running statistics (0.1) follows the micro batch: none, or inverse "
               "(above 1,024 examples in inverse proportion)",
       .default_text = "none",
       .group = "Regularization",
       .advanced = true,
       .check = check_batch_norm_rule},
      {.key = "ema",
       .member = as<RealForm>(&RunSpec::ema),
       .label = "Average the weights",
       .placeholder = "DECAY",
       .bounds = {.least = 0, .includes_least = false, .below = 1},
       .help = "Decay of an exponential moving average of the weights, such as 0.999, updated once per optimizer step "
               "(faster in the first steps); evaluations use the averaged weights; takes as much memory as the weights",
       .default_text = "none",
       .group = "Regularization",
       .advanced = true},
      {.key = "device",
       .member = as<TextForm>(&RunSpec::device),
       .label = "Device",
       .placeholder = "DEVICE",
       .choices = {"cpu", "cuda:0"},
       .help = "Device to train on: cpu, or cuda:N for GPU number N",
       .default_text = "cpu",
       .group = "Device",
       .for_programs = true,
       .check = check_device},
      {.key = "memory_budget",
       .member = as<SizeForm>(&RunSpec::memory_budget),
       .label = "Memory budget",
       .placeholder = "SIZE",
       .unit = "bytes",
       .bounds = {.least = 1e6},
       .help = "Memory that the run may use on the device, such as 400MB or 400MiB; by default it follows the memory "
               "that other programs leave free during the run",
       .default_text = "80 % of the free memory",
       .group = "Device",
       .for_programs = true},
      {.key = "precision",
       .member = as<ChoiceForm>(&RunSpec::precision),
       .label = "Precision",
       .placeholder = "P",
       .choices = {"fp32", "tf32", "bf16", "fp16"},
       .help = "Precision of matrix products, convolutions and attention in forward passes: fp32, bf16 or fp16 (GPU "
               "only, with a loss scale that adapts itself); weights, gradients, optimizer and loss stay in fp32. tf32 "
               "(GPU only) is fp32 with faster products of 10 bits of mantissa, and its memory is that of fp32",
       .default_text = "fp32",
       .group = "Device",
       .advanced = true,
       .check = check_precision},
      {.key = "checkpointing",
       .member = as<FlagForm>(&RunSpec::checkpointing),
       .label = "Activation checkpointing",
       .help = "Activation checkpointing: compute the activations of each block again in the backward pass instead of "
               "keeping them; saves memory and costs about a third more time, with the same result to the last bit",
       .default_text = "false",
       .group = "Device",
       .advanced = true,
       .check = check_checkpointing},
      {.key = "on_oom",
       .member = as<OnOomForm>(&RunSpec::on_oom),
       .label = "Out-of-memory action",
       .placeholder = "ACTION",
       .choices = {"shrink", "fail", "restart"},
       .help = "What to do on an out-of-memory error: shrink retries the same examples as smaller micro batches, fail "
               "ends the run; restart does the same as shrink, and starts your own program again with a smaller batch "
               "if it ended anyway",
       .default_text = "shrink",
       .group = "Device",
       .advanced = true,
       .for_programs = true},
      {.key = "grow_back",
       .member = as<IntegerForm>(&RunSpec::grow_back),
       .label = "Grow micro batch back after",
       .placeholder = "STEPS",
       .unit = "steps",
       .bounds = at_least_one,
       .help =
           "Optimizer steps without an out-of-memory error after which the next larger micro batch is tried once; if "
           "it does not fit, the step is made with smaller ones as before, and the number of steps doubles. Without "
           "it, micro batches grow when more memory has become available",
       .default_text = "only when more memory is available",
       .group = "Device",
       .advanced = true},
  });
  return fields;
}

const std::vector<std::string>& spec_groups() {
  static const std::vector<std::string> groups = {"Model and data", "Batch size",     "Length",
                                                  "Optimizer",      "Regularization", "Device"};
  return groups;
}

} // namespace batchscope::run
