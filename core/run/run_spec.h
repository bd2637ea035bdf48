#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/run/program_spec.h"
#include "core/schedule/batch_schedule.h"

namespace batchscope::run {

/// Batch size of a run: a number, or which size of a search to use.
struct BatchChoice {
  /// automatic: the recommended size, or a smaller one that leaves at least 20 steps per epoch.
  /// share: `percent` of the largest size, rounded down, at least 1.
  enum class Kind { number, automatic, recommended, safe, largest, share };
  Kind kind = Kind::automatic;
  std::int64_t number = 0; ///< for Kind::number, at least 1
  double percent = 0;      ///< for Kind::share, above 0 and at most 100
};

/// A number, `auto`, `auto:recommended`, `auto:safe`, `auto:largest`, or a share of the largest size such as `50%` or
/// `50% of largest`; throws Error (input) naming `field`.
BatchChoice parse_batch(std::string_view text, std::string_view field);
std::string to_string(const BatchChoice& choice);

/// Returns the steps of a warm-up, or nothing for `auto`; throws Error (input) naming `field`.
std::optional<std::int64_t> parse_warmup(std::string_view text, std::string_view field);

/// When a run is evaluated, besides at the end of each epoch and of the run: every `steps` optimizer steps, or each
/// time that `percent` of an epoch's examples more have been seen, which is equally often at every batch size.
struct EvaluationInterval {
  std::int64_t steps = 0; ///< at least 1; 0 if `percent` is given
  double percent = 0;     ///< above 0 and at most 100; 0 if `steps` is given
};

/// `20` (steps), or `10%` (of an epoch); throws Error (input) naming `field`.
EvaluationInterval parse_evaluation_interval(std::string_view text, std::string_view field);
std::string to_string(const EvaluationInterval& interval);

/// `restart`: as `shrink`, and a program of the user's own that an error has ended is started again with a smaller
/// batch.
enum class OnOom { shrink, fail, restart };

/// `shrink`, `fail` or `restart`; throws Error (input) naming `field`.
OnOom parse_on_oom(std::string_view text, std::string_view field);
std::string to_string(OnOom choice);

/// Everything that determines a run. A plain value with a versioned JSON form. Texts have the form of the command line.
/// An unset optional means the default, which may depend on other fields (the optimizer's learning rate, the first
/// effective batch).
struct RunSpec {
  static constexpr int current_version = 1;

  std::string name;
  std::string model = "cnn";
  std::string data = "demo";
  std::string augment = "none"; ///< of training images, see data::parse_augmentation()
  std::string shares; ///< of several streams, see schedule::ShareSchedule; empty: in proportion to their examples
  std::string clock;  ///< name of the stream whose epochs are the run's; empty: the first one
  bool group_by_length = false; ///< see data::StepOrder
  std::string init;             ///< safetensors file of the initial weights; empty: drawn from the seed
  std::string save;             ///< safetensors file that gets the weights at the end; empty: none
  std::string device = "cpu";
  std::optional<std::uint64_t> memory_budget; ///< bytes, at least 1 MB; default: 80 % of the free memory
  BatchChoice batch;
  std::int64_t accumulate = 1;
  std::optional<std::int64_t> effective_batch; ///< instead of accumulate
  std::string schedule = "constant";
  std::optional<std::int64_t> max_batch;
  bool drop_last = false;
  std::string optimizer = "adamw";     ///< sgd, adam, adamw, rmsprop
  std::optional<double> learning_rate; ///< default 0.001; sgd 0.1
  std::optional<double> momentum;      ///< sgd only; default 0.9
  std::optional<double> weight_decay;  ///< default 0.01 for adamw, else 0
  std::string lr_rule = "none";
  std::optional<std::int64_t> lr_reference_batch; ///< default: the first effective batch
  std::string lr_decay = "constant";
  std::string warmup = "0";             ///< steps, or `auto`
  double dropout = 0;                   ///< 0 <= p < 1
  double label_smoothing = 0;           ///< 0 <= s < 1
  bool checkpointing = false;           ///< activation checkpointing
  std::string precision = "fp32";       ///< of forward passes: fp32, bf16, and on GPUs tf32, fp16; weights stay in fp32
  std::optional<double> ema;            ///< 0 < decay < 1 of averaged weights; unset: none
  std::string batch_norm_rule = "none"; ///< or inverse
  std::string regularization_rule = "none";
  std::string task = "scratch"; ///< or fine-tuning
  std::optional<double> clip;   ///< largest gradient norm, > 0
  schedule::RunLength length{.epochs = 1, .examples = std::nullopt, .steps = std::nullopt};
  std::optional<double> max_seconds;                ///< > 0: ends before the step that would pass this training time
  std::optional<double> target_score;               ///< ends with the first evaluation that reaches it; see reaches()
  std::optional<EvaluationInterval> evaluate_every; ///< unset: at the end of each epoch and of the run only
  std::optional<std::int64_t> noise_every; ///< steps; unset: only if the schedule or the learning rate needs it
  /// Steps and minutes between two checkpoints; without either the run keeps none.
  std::optional<std::int64_t> checkpoint_every;
  std::optional<double> checkpoint_minutes;
  std::uint64_t seed = 1; ///< at most 2^63 - 1
  OnOom on_oom = OnOom::shrink;
  std::optional<std::int64_t> grow_back; ///< steps after which a larger micro batch is tried again; unset: never
  double margin = 0.2;                   ///< for batch auto:safe
  /// The user's own training program. It has model, data and training loop of its own: only the fields with
  /// SpecField::for_programs mean anything then, and Kind::automatic means its own batch size.
  std::optional<ProgramSpec> program;
  /// Fields of a stored spec that only a later version knows, a JSON object that is written back; empty: none. Such a
  /// run can be shown and compared; check() refuses to make it.
  std::string later_json{};
};

/// Values with the optimizer's defaults filled in: learning rate 0.1 for sgd, else 0.001; momentum 0.9 for sgd, the
/// only optimizer that uses it; weight decay 0.01 for adamw, else 0.
double learning_rate_or_default(const RunSpec& spec);
double momentum_or_default(const RunSpec& spec);
double weight_decay_or_default(const RunSpec& spec);

/// Whether an evaluation reaches the target: an accuracy (0..1) of at least `target`, or, of data without classes, a
/// loss of at most `target`.
bool reaches(double target, double loss, const std::optional<double>& accuracy);

/// Whether the run keeps checkpoints.
bool keeps_checkpoints(const RunSpec& spec);

/// Checks every field, on its own and against the others. Throws Error (input) naming the option of the first invalid
/// field, its value and what is accepted. Session checks what needs the data files or the device.
void check(const RunSpec& spec);

/// JSON of the current version, with all fields, keyed by option name (`--lr-rule` is `lr_rule`); of a program, with
/// its own fields and those that mean anything for it. Reading throws Error (input) for unknown fields, wrong types and
/// newer versions; fields that the text leaves out keep the values of `base`. Optional fields may be null: unset.
/// Reading does not check values: see check().
std::string to_json(const RunSpec& spec, int indent = 2);
RunSpec run_spec_from_json(const std::string& text, const RunSpec& base = {});

/// A spec that this program or another version of it has stored: as run_spec_from_json(), but fields that are not known
/// are kept in later_json, and do not make it an error.
RunSpec stored_spec_from_json(const std::string& text);
/// The same of a stored run; nothing if it is not one of this program: another made the run, or a version whose specs
/// have another form.
std::optional<RunSpec> stored_spec(const std::string& text);

/// The arguments of `batchscope-cli train` for the same run (of a program, of `batchscope-cli run`); only what differs
/// from the defaults.
std::string to_command_line(const RunSpec& spec);

} // namespace batchscope::run
