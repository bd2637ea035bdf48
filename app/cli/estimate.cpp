#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/estimate_answer.h"
#include "app/cli/estimate_dry_run.h"
#include "app/cli/estimate_options.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/estimate/growth.h"
#include "core/estimate/run_of.h"
#include "core/estimate/savings.h"
#include "core/estimate/transformer.h"
#include "core/run/model_spec.h"
#include "core/run/spec_fields.h"

namespace batchscope::cli {

namespace {

using estimate::default_vocabulary;
using estimate_limits::most;

constexpr std::int64_t default_classes = 1000;

Subject subject_of(const EstimateOptions& options) {
  Subject subject;
  options.run.apply(subject.spec);
  subject.spec.checkpointing = options.checkpointing->count() > 0;
  if (const auto precision = text_of(options.precision))
    run::set_field(subject.spec, "precision", *precision);
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
  for (const CLI::Option* formula_only : {options.attention, options.lora_rank, options.shards, options.sequence}) {
    if (formula_only->count() > 0)
      throw input_error(formula_only->get_name() + " is not accepted with --model, which is trained without it; "
                                                   "accepted: with --parameters or --config");
  }
  const auto target = target_of(options);
  const Subject subject = subject_of(options);
  const std::optional<std::int64_t> batch = integer_of(options.batch, 1, most);
  data::DataPool pool;
  std::optional<estimate::DryRuns> dry_runs;
  if (target)
    dry_runs.emplace(*target);
  DryAnswer dry = dry_run(subject, dry_runs, batch, pool);
  Json& answer = dry.json;
  const auto shape = estimate::transformer_of(run::parse_model(subject.spec.model), dry.prediction.parameters,
                                              integer_of(options.vocabulary, 1, most).value_or(default_vocabulary));
  if (shape)
    add_formulas(answer, *shape, estimate::training_of(dry.spec, dry.batch), target, false);
  if (options.verify->count() > 0)
    add_measured(answer, measure(subject, dry));
  if (target) {
    answer["for"] = json_of(*target);
    answer["room"] = room_json(dry.fit->batch, estimate::room_to_grow(dry.spec, *dry_runs, dry.fit->batch, pool),
                               estimate::savings_of(dry.spec, *dry.fit, *dry_runs, pool));
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
    table.add({card.name, estimate::card_memory_text(card.memory_bytes), fmt::format("{:.0f}", card.bandwidth / 1e9),
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
  if (context.command)
    return estimate_of_program(options, context);
  options.program.refuse_given();
  if (options.config->count() > 0 || options.parameters->count() > 0) {
    if (options.run.find("--model")->count() > 0)
      throw input_error("--model is not accepted with --config or --parameters; accepted: one of them");
    return estimate_by_formula(options, context);
  }
  if (options.run.find("--model")->count() == 0)
    throw input_error("estimate needs a model; accepted: --model, --config, --parameters, or -- and a program");
  return estimate_by_dry_run(options, context);
}

} // namespace

std::optional<estimate::Target> target_of(const EstimateOptions& options) {
  const auto text = text_of(options.target);
  return text ? std::optional(estimate::parse_target(*text, "--for")) : std::nullopt;
}

Verb add_estimate(CLI::App& program) {
  auto* app = program.add_subcommand("estimate", "Compute the memory that training needs; nothing is stored");
  auto options = std::make_shared<EstimateOptions>();
  options->target =
      add_value(*app, "--for", "SIZE|CARD",
                "Memory to fit into: 24GB (decimal), 24GiB, or a GPU such as rtx-4090, of which part is not usable");
  options->verify =
      add_switch(*app, "--verify", "Also run two steps on this machine, and print the error of each answer");
  options->cards = add_switch(*app, "--cards", "List the GPUs");
  options->batch = add_value(*app, "--batch", "N",
                             "Batch size (default: with --model and --for the largest that fits, else 1); of a "
                             "program several, as in 8,16 (its default)");
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
      "fp32, mixed (AMP: fp16 or bf16 with fp32 master weights), fp16 (all in 16 bit), int8 or 4bit; with --model "
      "fp32 or bf16, which is mixed (default fp32)");
  options->attention = add_value(*app, "--attention", "A", "fused (SDPA, FlashAttention) or eager (default fused)");
  options->checkpointing = add_switch(*app, "--checkpointing", "Activation checkpointing of every block");
  options->lora_rank = add_value(*app, "--lora-rank", "R", "LoRA rank; adapters on the query and value projections");
  options->shards =
      add_value(*app, "--shards", "N",
                "Number of ranks over which weights, gradients and optimizer state are sharded (ZeRO stage 3, FSDP)");
  options->run.add_to(*app, {"--name",
                             "--init",
                             "--save",
                             "--batch",
                             "--device",
                             "--memory-budget",
                             "--epochs",
                             "--examples",
                             "--steps",
                             "--evaluate-every",
                             "--checkpoint-every",
                             "--checkpoint-minutes",
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
                             "--precision",
                             "--checkpointing",
                             "--on-oom",
                             "--margin",
                             "--max-batch",
                             "--drop-last"});
  options->optimizer = app->get_option("--optimizer");
  options->program.add_to(*app);
  app->footer(
      "`estimate --for CARD -- COMMAND` runs a program of your own on a pretended card for some steps of each size "
      "(--batch), and says what fills its memory. `estimate --attach auto -- COMMAND` asks a program with a Trainer of "
      "transformers for the memory of steps that it does not run.");
  return {app, [options](const Context& context) { return run_estimate(*options, context); }};
}

} // namespace batchscope::cli
