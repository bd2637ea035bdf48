#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/estimate_answer.h"
#include "app/cli/output.h"
#include "app/cli/run_options.h"
#include "core/base/error.h"
#include "core/base/host.h"
#include "core/base/text.h"
#include "core/estimate/card_fit.h"
#include "core/estimate/formula.h"
#include "core/estimate/growth.h"
#include "core/estimate/savings.h"
#include "core/run/engine.h"
#include "core/run/forecast.h"
#include "core/run/model_spec.h"

namespace batchscope::cli {

namespace {

using estimate::Estimate;
using estimate::Target;
using estimate::Training;
using estimate::Transformer;

struct EstimateOptions {
  RunOptions run; ///< of a built-in model
  CLI::Option* shape = nullptr;
  CLI::Option* classes = nullptr;
  CLI::Option* vocabulary = nullptr;
  CLI::Option* batch = nullptr;
  // By formula:
  CLI::Option* config = nullptr;
  CLI::Option* parameters = nullptr;
  CLI::Option* layers = nullptr;
  CLI::Option* hidden = nullptr;
  CLI::Option* heads = nullptr;
  CLI::Option* sequence = nullptr;
  CLI::Option* precision = nullptr;
  CLI::Option* optimizer = nullptr;
  CLI::Option* attention = nullptr;
  CLI::Option* checkpointing = nullptr;
  CLI::Option* lora_rank = nullptr;
  CLI::Option* shards = nullptr;

  CLI::Option* target = nullptr;
  CLI::Option* verify = nullptr;
  CLI::Option* cards = nullptr;
};

/// As many as the largest batch that is asked about; made-up data take no memory.
constexpr std::int64_t most_examples = 10'000'000;
constexpr std::int64_t default_vocabulary = 50'257; // of GPT-2
constexpr std::int64_t default_classes = 1000;
constexpr std::int64_t default_sequence = 512;
constexpr std::int64_t most = std::int64_t{1} << 40;

std::optional<Target> target_of(const EstimateOptions& options) {
  const auto text = text_of(options.target);
  return text ? std::optional(estimate::parse_target(*text, "--for")) : std::nullopt;
}

void add_formulas(Json& answer, const Transformer& model, const Training& training, const std::optional<Target>& target,
                  bool main) {
  const auto largest = [&](Estimate (*by)(const Transformer&, const Training&)) {
    return target ? std::optional(max_batch(by, model, training, static_cast<double>(target->usable_bytes())))
                  : std::nullopt;
  };
  Json formula = json_of(by_formula(model, training), largest(estimate::by_formula));
  if (main)
    answer.update(formula);
  else
    answer["formula"] = std::move(formula);
  answer["rule_of_thumb"] = json_of(rule_of_thumb(model, training), largest(estimate::rule_of_thumb));
}

// --- dry runs and measurements ---

/// A built-in model on the user's data, or on data that are made up and take no memory.
struct Subject {
  run::RunSpec spec;
  std::string made_up; ///< the data without their number of examples; empty: the user's

  run::RunSpec with_examples(std::int64_t count) const {
    run::RunSpec made = spec;
    if (!made_up.empty())
      made.data = fmt::format("{},examples={}", made_up, count);
    return made;
  }
};

struct DryAnswer {
  run::RunSpec spec;
  run::Forecast forecast;
  std::optional<estimate::CardFit> fit;
  std::int64_t batch = 1;
  Json json;
};

/// `batch`: nothing for the largest that fits the target.
DryAnswer dry_run(const Subject& subject, const std::optional<Target>& target, std::optional<std::int64_t> batch,
                  data::DataPool& pool) {
  run::RunSpec spec = subject.with_examples(most_examples);
  if (batch)
    spec.batch = {.kind = run::BatchChoice::Kind::number, .number = *batch};
  std::optional<estimate::CardFit> fit;
  if (target)
    fit = estimate::fit_into(spec, *target, pool);
  DryAnswer answer{
      .spec = spec, .forecast = fit ? fit->forecast : run::forecast(spec, pool), .fit = fit, .batch = 1, .json = {}};
  if (batch && *batch > answer.forecast.max_batch)
    throw input_error(fmt::format("--batch: {} is not accepted; accepted: 1 to {}", *batch, answer.forecast.max_batch));
  answer.batch = batch.value_or(answer.fit ? answer.fit->largest.value_or(1) : std::int64_t{1});
  answer.json = json_of(answer.forecast, answer.batch,
                        answer.fit ? std::optional(answer.fit->largest.value_or(0)) : std::nullopt);
  if (answer.fit && answer.fit->reserve) {
    answer.json["reserved_bytes"] = answer.fit->reserve->reserved_bytes; // for max_batch, or one example if that is 0
    answer.json["fragmentation"] = json_number(five_decimals(answer.fit->reserve->fragmentation()));
  }
  return answer;
}

class NoSink final : public telemetry::Sink {
public:
  void record(const telemetry::StepRecord& /*record*/) override {}
  void event(telemetry::Event /*event*/) override {}
};

/// The peak of two real steps on `cpu`.
std::uint64_t measure(const Subject& subject, const DryAnswer& dry) {
  const std::uint64_t needed = dry.forecast.at(dry.batch).bytes, free = free_host_memory();
  if (needed > free / 10 * 9)
    throw Error(Error::Kind::unavailable, fmt::format("--verify: two steps take {}, and {} are free here; without it, "
                                                      "the answer is computed",
                                                      format_bytes(needed), format_bytes(free)));
  constexpr std::int64_t steps = 2; // the first creates the optimizer's state
  run::RunSpec spec = subject.with_examples(std::max<std::int64_t>(dry.batch * dry.spec.accumulate * steps, 2));
  spec.batch = {.kind = run::BatchChoice::Kind::number, .number = dry.batch};
  spec.length = {.epochs = {}, .examples = {}, .steps = steps};
  spec.on_oom = run::OnOom::fail;
  const auto session = run::open_session(spec);
  NoSink sink;
  run::RunControl control;
  const telemetry::RunOutcome outcome = session->run(sink, control);
  if (outcome.peak_bytes == 0)
    throw Error(Error::Kind::failed, "--verify: the two steps failed: " + outcome.reason);
  return outcome.peak_bytes;
}

void print_answer(const Json& answer, std::int64_t batch, const std::optional<Target>& target, const Context& context) {
  if (context.json)
    print_json(answer);
  else
    print_answers(answer, batch, target);
}

// --- from numbers or a config.json ---

Transformer transformer_of(const EstimateOptions& options) {
  if (const auto file = text_of(options.config)) {
    for (const CLI::Option* number : {options.parameters, options.layers, options.hidden, options.heads})
      exclude(options.config, number);
    return estimate::transformer_from_config(read_spec_file(*file), *file);
  }
  require(options.layers, "the number of layers");
  require(options.hidden, "the hidden size");
  Transformer model;
  const double parameters = *number_of(options.parameters);
  if (!(parameters >= 1 && parameters < 9.2e18))
    throw input_error("--parameters: the number of parameters must be from 1 to 2^63");
  model.parameters = parameters;
  model.layers = *integer_of(options.layers, 1, most);
  model.width = *integer_of(options.hidden, 1, most);
  model.heads = integer_of(options.heads, 1, most).value_or(std::max<std::int64_t>(model.width / 64, 1));
  model.vocabulary = integer_of(options.vocabulary, 1, most).value_or(0);
  model.model = fmt::format("gpt:layers={},heads={},width={}", model.layers, model.heads, model.width);
  try {
    run::parse_model(model.model);
  } catch (const Error&) {
    model.model.clear(); // beyond the bounds of the engine, not of the formula
  }
  return model;
}

Training training_of(const EstimateOptions& options, const Transformer& model) {
  Training training;
  training.batch = static_cast<double>(integer_of(options.batch, 1, most).value_or(1));
  const std::int64_t positions = model.positions > 0 ? model.positions : default_sequence;
  training.sequence =
      static_cast<double>(integer_of(options.sequence, 1, most).value_or(std::min(positions, default_sequence)));
  const bool learned_positions = model.family == "gpt2" || model.family == "bert";
  if (learned_positions && training.sequence > static_cast<double>(model.positions))
    throw input_error(
        fmt::format("--sequence: {:.0f} is longer than this model's {} positions", training.sequence, model.positions));
  training.precision = estimate::precision_from(text_of(options.precision).value_or("fp32"));
  training.optimizer = estimate::optimizer_from(text_of(options.optimizer).value_or("adam"));
  training.attention = estimate::attention_from(text_of(options.attention).value_or("fused"));
  training.checkpointing = options.checkpointing->count() > 0;
  training.lora_rank = static_cast<double>(integer_of(options.lora_rank, 1, most).value_or(0));
  training.shards = static_cast<double>(integer_of(options.shards, 1, most).value_or(1));
  const bool quantized =
      training.precision == Training::Precision::int8 || training.precision == Training::Precision::int4;
  if (quantized && training.lora_rank == 0)
    throw input_error(fmt::format("--precision: quantized weights are not trained themselves; accepted: {} with "
                                  "--lora-rank",
                                  *text_of(options.precision)));
  return training;
}

/// The same as a run of the engine, which trains all weights in fp32 with fused attention; nothing for any other.
std::optional<Subject> subject_of(const Transformer& model, const Training& training) {
  const bool runs = training.precision == Training::Precision::fp32 && !training.checkpointing &&
                    training.attention == Training::Attention::fused && training.lora_rank == 0 &&
                    training.shards == 1 && training.optimizer != Training::Optimizer::adam8bit;
  if (!runs || model.model.empty())
    return std::nullopt;
  Subject subject;
  subject.spec.model = run::with_size(model.model, "context", std::llround(training.sequence));
  subject.made_up =
      fmt::format("synthetic:vocabulary={}", model.vocabulary > 0 ? model.vocabulary : default_vocabulary);
  if (training.optimizer != Training::Optimizer::adam) {
    subject.spec.optimizer = "sgd";
    subject.spec.momentum = training.optimizer == Training::Optimizer::momentum ? 0.9 : 0.0;
  }
  return subject;
}

int estimate_by_formula(const EstimateOptions& options, const Context& context) {
  const Transformer model = transformer_of(options);
  const Training training = training_of(options, model);
  const auto target = target_of(options);
  const auto batch = static_cast<std::int64_t>(training.batch);
  Json answer{{"method", "formula"}, {"parameters", json_number(model.parameters)}};
  add_formulas(answer, model, training, target, true);
  data::DataPool pool;
  const auto subject = subject_of(model, training);
  std::optional<DryAnswer> dry;
  if (subject) {
    dry = dry_run(*subject, target, batch, pool);
    answer["dry_run"] = dry->json;
  }
  if (options.verify->count() > 0) {
    if (!dry)
      throw input_error("--verify works only with fp32, fused attention, and without --checkpointing, --lora-rank, "
                        "--shards and adam8bit");
    add_measured(answer, measure(*subject, *dry));
  }
  if (target) {
    answer["for"] = json_of(*target);
    answer["room"] =
        dry ? room_json(batch, estimate::room_to_grow(dry->spec, *target, batch, pool), dry->fit->savings)
            : room_json(batch, {}, estimate::savings(model, training, static_cast<double>(target->usable_bytes()), {}));
  }
  print_answer(answer, batch, target, context);
  return exit_status::done;
}

// --- from a built-in model ---

Subject subject_of(const EstimateOptions& options) {
  Subject subject;
  options.run.apply(subject.spec);
  const bool tokens = run::parse_model(subject.spec.model).sizes.count("context") > 0;
  if (options.run.find("--data")->count() > 0 || (!tokens && options.shape->count() == 0))
    return subject;
  if (tokens)
    subject.made_up =
        fmt::format("synthetic:vocabulary={}", integer_of(options.vocabulary, 1, most).value_or(default_vocabulary));
  else
    subject.made_up = fmt::format("synthetic:shape={},classes={}", *text_of(options.shape),
                                  integer_of(options.classes, 2, most).value_or(default_classes));
  return subject;
}

int estimate_by_dry_run(const EstimateOptions& options, const Context& context) {
  for (const CLI::Option* formula_only : {options.precision, options.attention, options.checkpointing,
                                          options.lora_rank, options.shards, options.sequence}) {
    if (formula_only->count() > 0)
      throw input_error(formula_only->get_name() + " is not accepted with --model, whose dry run is in fp32; accepted: "
                                                   "with --parameters or --config");
  }
  const auto target = target_of(options);
  const Subject subject = subject_of(options);
  const std::optional<std::int64_t> batch = integer_of(options.batch, 1, most);
  data::DataPool pool;
  DryAnswer dry = dry_run(subject, target, batch, pool);
  Json& answer = dry.json;
  const auto shape = estimate::transformer_of(run::parse_model(subject.spec.model), dry.forecast.parameters,
                                              integer_of(options.vocabulary, 1, most).value_or(default_vocabulary));
  if (shape)
    add_formulas(answer, *shape, estimate::training_of(dry.spec, dry.batch), target, false);
  if (options.verify->count() > 0)
    add_measured(answer, measure(subject, dry));
  if (target) {
    answer["for"] = json_of(*target);
    answer["room"] =
        room_json(dry.fit->batch, estimate::room_to_grow(dry.spec, *target, dry.fit->batch, pool), dry.fit->savings);
  }
  print_answer(answer, dry.batch, target, context);
  return exit_status::done;
}

int print_cards(const Context& context) {
  Json list = Json::array();
  Table table({{"card", Table::Align::left}, {"memory"}, {"GB/s"}, {"year"}, {"source", Table::Align::left}});
  for (const estimate::Card& card : estimate::cards()) {
    list.push_back({{"name", card.name},
                    {"memory_bytes", card.memory_bytes},
                    {"bandwidth_bytes_per_second", card.bandwidth},
                    {"year", card.year},
                    {"source", card.source}});
    table.add({card.name, format_bytes(card.memory_bytes), fmt::format("{:.0f}", card.bandwidth / 1e9),
               std::to_string(card.year), card.source});
  }
  if (context.json)
    print_json({{"cards", list}});
  else
    print(table.text(Palette::for_stdout()));
  return exit_status::done;
}

int run_estimate(const EstimateOptions& options, const Context& context) {
  if (options.cards->count() > 0)
    return print_cards(context);
  if (options.config->count() > 0 || options.parameters->count() > 0) {
    if (options.run.find("--model")->count() > 0)
      throw input_error("--model is not accepted with --config or --parameters; accepted: one of them");
    return estimate_by_formula(options, context);
  }
  if (options.run.find("--model")->count() == 0)
    throw input_error("estimate needs a model; accepted: --model, --config or --parameters");
  return estimate_by_dry_run(options, context);
}

} // namespace

Verb add_estimate(CLI::App& program) {
  auto* app = program.add_subcommand("estimate", "Compute the memory that training needs; nothing is stored");
  auto options = std::make_shared<EstimateOptions>();
  options->target =
      add_value(*app, "--for", "SIZE|CARD",
                "Memory to fit into: 24GB (decimal), 24GiB, or a GPU such as rtx-4090, of which part is not usable");
  options->verify =
      add_switch(*app, "--verify", "Also run two steps on this machine, and print the error of each answer");
  options->cards = add_switch(*app, "--cards", "List the GPUs");
  options->batch =
      add_value(*app, "--batch", "N", "Batch size (default: with --model and --for the largest that fits, else 1)");
  options->shape = add_value(*app, "--shape", "CxHxW", "Shape of an example, instead of --data");
  options->classes = add_value(*app, "--classes", "N", "Number of classes with --shape (default 1000)");
  options->vocabulary = add_value(*app, "--vocabulary", "V", "Vocabulary size (default 50257 for gpt)");
  options->config =
      add_value(*app, "--config", "FILE", "A Hugging Face config.json (GPT-2, BERT, Llama, Mistral, Qwen)");
  options->parameters = add_value(*app, "--parameters", "P", "Number of parameters of a transformer, as in 110e6");
  options->layers = add_value(*app, "--layers", "L", "Number of layers (with --parameters)");
  options->hidden = add_value(*app, "--hidden", "H", "Hidden size (with --parameters)");
  options->heads =
      add_value(*app, "--heads", "A", "Number of attention heads (with --parameters; default hidden / 64)");
  options->sequence = add_value(*app, "--sequence", "S", "Tokens per example (default 512)");
  options->precision = add_value(
      *app, "--precision", "P",
      "fp32, mixed (AMP: fp16 or bf16 with fp32 master weights), fp16 (all in 16 bit), int8 or 4bit (default fp32)");
  options->attention = add_value(*app, "--attention", "A", "fused (SDPA, FlashAttention) or eager (default fused)");
  options->checkpointing = add_switch(*app, "--checkpointing", "Activation checkpointing of every layer");
  options->lora_rank = add_value(*app, "--lora-rank", "R", "LoRA rank; adapters on the query and value projections");
  options->shards =
      add_value(*app, "--shards", "N",
                "Number of ranks over which weights, gradients and optimizer state are sharded (ZeRO stage 3, FSDP)");
  options->run.add_to(*app, {"--name",
                             "--batch",
                             "--device",
                             "--memory-budget",
                             "--epochs",
                             "--examples",
                             "--steps",
                             "--task",
                             "--seed",
                             "--schedule",
                             "--lr",
                             "--lr-rule",
                             "--lr-reference-batch",
                             "--lr-decay",
                             "--warmup",
                             "--weight-decay",
                             "--momentum",
                             "--regularization-rule",
                             "--on-oom",
                             "--margin",
                             "--max-batch",
                             "--drop-last"});
  options->optimizer = app->get_option("--optimizer");
  return {app, [options](const Context& context) { return run_estimate(*options, context); }};
}

} // namespace batchscope::cli
