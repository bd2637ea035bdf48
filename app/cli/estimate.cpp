#include <algorithm>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "app/cli/run_options.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/estimate/card_fit.h"
#include "core/estimate/formula.h"
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
  CLI::Option* cards = nullptr;
};

/// As many as the largest batch that is asked about; made-up data take no memory.
constexpr std::int64_t examples = 10'000'000;
constexpr std::int64_t default_sequence = 512;
constexpr std::int64_t most = std::int64_t{1} << 40;

std::optional<Target> target_of(const EstimateOptions& options) {
  const auto text = text_of(options.target);
  return text ? std::optional(estimate::parse_target(*text, "--for")) : std::nullopt;
}

// --- answers as JSON and as text ---

Json json_of(const Estimate& estimate, std::optional<std::int64_t> max_batch) {
  const auto bytes = [](double value) { return json_number(std::round(value)); };
  Json json{{"parameters_bytes", bytes(estimate.parameters)},
            {"gradients_bytes", bytes(estimate.gradients)},
            {"optimizer_bytes", bytes(estimate.optimizer)},
            {"activations_bytes", bytes(estimate.activations)},
            {"total_bytes", bytes(estimate.total())}};
  json["max_batch"] = max_batch ? Json(*max_batch) : Json(nullptr);
  return json;
}

Json json_of(const Target& target) {
  return {{"name", target.name.empty() ? Json(nullptr) : Json(target.name)},
          {"memory_bytes", target.memory_bytes},
          {"reserve_bytes", target.reserve_bytes},
          {"usable_bytes", target.usable_bytes()}};
}

std::string bytes_text(const Json& bytes) {
  return bytes.is_number() ? format_bytes(static_cast<std::uint64_t>(bytes.get<double>())) : "-";
}

std::string target_text(const Target& target) {
  if (target.name.empty())
    return format_bytes(target.memory_bytes);
  return fmt::format("{}: {}, of which {} are left for the CUDA context, libraries and driver", target.name,
                     format_bytes(target.memory_bytes), format_bytes(target.reserve_bytes));
}

/// The answers beside each other, one row each.
void print_answers(const Json& answer, std::int64_t batch, const std::optional<Target>& target) {
  std::vector<std::pair<std::string, std::string>> rows{{"batch size", format_count(batch)}};
  if (answer.contains("parameters"))
    rows.emplace_back("parameters", format_count(std::llround(answer["parameters"].get<double>())));
  if (target)
    rows.emplace_back("fit into", target_text(*target));
  if (answer.contains("reserved_bytes"))
    rows.emplace_back("reserved by the allocator",
                      fmt::format("{} ({:.1f} % unused) at the largest batch, by LibTorch's own CUDA allocator",
                                  bytes_text(answer["reserved_bytes"]), 100 * answer["fragmentation"].get<double>()));
  rows.emplace_back("computed, not run", answer["method"] == "dry-run" ? "a dry run of the trainer's own step"
                                                                       : "formulas; see README, \"Will it fit?\"");
  print(facts(rows));
  Table table({{"method", Table::Align::left},
               {"weights"},
               {"gradients"},
               {"optimizer"},
               {"activations"},
               {"total"},
               {"largest batch"}});
  const auto add = [&](const std::string& name, const Json& row) {
    table.add({name, bytes_text(row["parameters_bytes"]), bytes_text(row["gradients_bytes"]),
               bytes_text(row["optimizer_bytes"]), bytes_text(row["activations_bytes"]), bytes_text(row["total_bytes"]),
               row["max_batch"].is_number() ? format_count(row["max_batch"].get<std::int64_t>()) : "-"});
  };
  add(answer["method"].get<std::string>(), answer);
  if (answer.contains("formula"))
    add("formula", answer["formula"]);
  if (answer.contains("rule_of_thumb"))
    add("rule of thumb", answer["rule_of_thumb"]);
  print(table.text(Palette::for_stdout()));
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

// --- from numbers or a config.json ---

Transformer transformer_of(const EstimateOptions& options) {
  if (const auto file = text_of(options.config)) {
    for (const CLI::Option* number : {options.parameters, options.layers, options.hidden, options.heads})
      exclude(options.config, number);
    return estimate::transformer_from_config(read_text_file(*file), *file);
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
  return model;
}

Training training_of(const EstimateOptions& options, const Transformer& model) {
  Training training;
  training.batch = static_cast<double>(integer_of(options.batch, 1, most).value_or(1));
  const std::int64_t positions = model.positions > 0 ? model.positions : default_sequence;
  training.sequence =
      static_cast<double>(integer_of(options.sequence, 1, most).value_or(std::min(positions, default_sequence)));
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

int estimate_by_formula(const EstimateOptions& options, const Context& context) {
  const Transformer model = transformer_of(options);
  const Training training = training_of(options, model);
  const auto target = target_of(options);
  Json answer{{"method", "formula"}, {"parameters", json_number(model.parameters)}};
  add_formulas(answer, model, training, target, true);
  if (target)
    answer["for"] = json_of(*target);
  if (context.json)
    print_json(answer);
  else
    print_answers(answer, std::llround(training.batch), target);
  return exit_status::done;
}

// --- from a built-in model ---

run::RunSpec spec_of(const EstimateOptions& options) {
  run::RunSpec spec;
  options.run.apply(spec);
  const run::ModelSpec model = run::parse_model(spec.model);
  const bool tokens = model.name == "gpt";
  if (options.run.find("--data")->count() == 0 && (tokens || options.shape->count() > 0)) {
    spec.data = tokens ? fmt::format("synthetic:examples={},vocabulary={}", examples,
                                     integer_of(options.vocabulary, 1, most).value_or(50'257))
                       : fmt::format("synthetic:examples={},shape={},classes={}", examples, *text_of(options.shape),
                                     integer_of(options.classes, 2, most).value_or(1000));
  }
  return spec;
}

int estimate_by_dry_run(const EstimateOptions& options, const Context& context) {
  for (const CLI::Option* formula_only : {options.precision, options.attention, options.checkpointing,
                                          options.lora_rank, options.shards, options.sequence}) {
    if (formula_only->count() > 0)
      throw input_error(formula_only->get_name() + " is not accepted with --model, which is run dry in fp32; accepted: "
                                                   "with --parameters or --config");
  }
  const auto target = target_of(options);
  const run::RunSpec spec = spec_of(options);
  data::DataPool pool;
  const std::optional<estimate::CardFit> fit =
      target ? std::optional(estimate::fit_into(spec, *target, pool)) : std::nullopt;
  const run::Forecast forecast = fit ? fit->forecast : run::forecast(spec, pool);
  const std::int64_t batch =
      integer_of(options.batch, 1, forecast.max_batch).value_or(fit ? fit->largest.value_or(1) : std::int64_t{1});
  const predict::PeakCurve::Point point = forecast.curve.at(batch);
  Json by = Json::object();
  for (int use = 0; use < telemetry::use_count; ++use)
    by[telemetry::to_string(static_cast<telemetry::Use>(use))] = point.by[static_cast<std::size_t>(use)];
  Json answer{{"method", "dry-run"},
              {"parameters", forecast.parameters},
              {"batch", batch},
              {"parameters_bytes", by["parameters"]},
              {"gradients_bytes", by["gradients"]},
              {"optimizer_bytes", by["optimizer"]},
              {"activations_bytes", by["activations"].get<std::uint64_t>() + by["workspace"].get<std::uint64_t>() +
                                        by["batch"].get<std::uint64_t>()},
              {"total_bytes", point.bytes},
              {"by", by}};
  answer["max_batch"] = fit ? Json(fit->largest.value_or(0)) : Json(nullptr);
  if (fit && fit->reserve) {
    answer["reserved_bytes"] = fit->reserve->reserved_bytes; // for max_batch, or one example if that is 0
    answer["fragmentation"] = json_number(five_decimals(fit->reserve->fragmentation()));
  }
  if (const run::ModelSpec model = run::parse_model(spec.model); model.name == "gpt") {
    const Transformer shape{.family = {},
                            .parameters = static_cast<double>(forecast.parameters),
                            .layers = model.size("layers"),
                            .width = model.size("width"),
                            .heads = model.size("heads"),
                            .vocabulary = integer_of(options.vocabulary, 1, most).value_or(50'257),
                            .positions = model.context()};
    Training training;
    training.batch = static_cast<double>(batch);
    training.sequence = static_cast<double>(model.context());
    training.optimizer = spec.optimizer == "sgd" ? Training::Optimizer::momentum : Training::Optimizer::adam;
    add_formulas(answer, shape, training, target, false);
  }
  if (target)
    answer["for"] = json_of(*target);
  if (context.json)
    print_json(answer);
  else
    print_answers(answer, batch, target);
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
  auto* app = program.add_subcommand("estimate", "Compute the memory of a training; nothing is run or stored");
  auto options = std::make_shared<EstimateOptions>();
  options->target = add_value(*app, "--for", "SIZE|CARD", "Memory to fit into: 24GB, or a card such as rtx-4090");
  options->cards = add_switch(*app, "--cards", "List the cards");
  options->batch = add_value(*app, "--batch", "N", "Batch size (default: the largest that fits --for, else 1)");
  options->shape = add_value(*app, "--shape", "CxHxW", "Shape of an example, instead of --data");
  options->classes = add_value(*app, "--classes", "N", "Number of classes with --shape (default 1000)");
  options->vocabulary = add_value(*app, "--vocabulary", "V", "Vocabulary size (default 50257 for gpt)");
  options->config =
      add_value(*app, "--config", "FILE", "A Hugging Face config.json (GPT-2, BERT, Llama, Mistral, Qwen)");
  options->parameters = add_value(*app, "--parameters", "P", "Number of parameters of a transformer, as in 110e6");
  options->layers = add_value(*app, "--layers", "L", "Its layers");
  options->hidden = add_value(*app, "--hidden", "H", "Its hidden size");
  options->heads = add_value(*app, "--heads", "A", "Its attention heads (default hidden / 64)");
  options->sequence = add_value(*app, "--sequence", "S", "Tokens per example (default 512)");
  options->precision = add_value(*app, "--precision", "P", "fp32, mixed, fp16, int8 or 4bit (default fp32)");
  options->attention = add_value(*app, "--attention", "A", "fused or eager (default fused)");
  options->checkpointing = add_switch(*app, "--checkpointing", "Activation checkpointing of every layer");
  options->lora_rank =
      add_value(*app, "--lora-rank", "R", "Train adapters of this rank on the query and value projections");
  options->shards = add_value(*app, "--shards", "N", "Ranks that share weights, gradients and optimizer state");
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
