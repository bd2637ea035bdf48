#include "core/advice/rescale.h"

#include <cmath>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::cli {

namespace {

using advice::RescaledValue;

struct RescaleOptions {
  CLI::Option *from = nullptr, *to = nullptr, *rule = nullptr, *optimizer = nullptr;
  CLI::Option* noise_scale = nullptr;
  CLI::Option *weight_decay = nullptr, *dropout = nullptr, *ema = nullptr, *momentum = nullptr, *betas = nullptr,
              *epsilon = nullptr;
  CLI::Option *examples = nullptr, *epochs = nullptr, *steps = nullptr, *warmup = nullptr;
  CLI::Option *evaluate_every = nullptr, *save_every = nullptr;
};

/// A number from `least` on and below `below`; throws Error (input) naming the option.
std::optional<double> bounded(const CLI::Option* option, double least, double below) {
  const auto value = number_of(option);
  if (value && !(*value >= least && *value < below))
    throw input_error(fmt::format("{}: {:g} is not accepted; accepted: at least {:g}{}", option->get_name(), *value,
                                  least, std::isfinite(below) ? fmt::format(" and below {:g}", below) : ""));
  return value;
}

void read_betas(const RescaleOptions& options, advice::Recipe& recipe) {
  if (options.betas->count() == 0)
    return;
  const auto betas = list_of(options.betas);
  if (betas.size() != 2)
    throw input_error(fmt::format("--betas: {} is not accepted; accepted: two numbers such as 0.9,0.999",
                                  in_quotes(*text_of(options.betas))));
  for (const auto& [text, target] : {std::pair(betas[0], &recipe.beta1), std::pair(betas[1], &recipe.beta2)}) {
    *target = parse_number(text, "--betas");
    if (!(*target > 0 && *target < 1))
      throw input_error(fmt::format("--betas: {} is not accepted; accepted: above 0 and below 1", in_quotes(text)));
  }
}

advice::Recipe recipe_of(const RescaleOptions& options) {
  constexpr std::int64_t most = 1'000'000'000'000;
  constexpr double no_bound = std::numeric_limits<double>::infinity();
  require(options.from, "batch,accumulation,ranks,learning rate that the recipe was tuned at, such as 32,1,1,0.1");
  require(options.to, "the new batch,accumulation,ranks, such as 64,4,2");
  advice::Recipe recipe = advice::parse_recipe(*text_of(options.from), "--from");
  recipe.rule = text_of(options.rule).value_or("");
  recipe.optimizer = text_of(options.optimizer).value_or("");
  recipe.noise_scale = bounded(options.noise_scale, 0, no_bound);
  recipe.weight_decay = bounded(options.weight_decay, 0, no_bound);
  recipe.dropout = bounded(options.dropout, 0, 1);
  recipe.ema = bounded(options.ema, 0, 1);
  if (recipe.ema && *recipe.ema == 0)
    throw input_error("--ema: 0 is not accepted; accepted: above 0 and below 1");
  recipe.momentum = bounded(options.momentum, 0, 1);
  recipe.epsilon = bounded(options.epsilon, 0, no_bound).value_or(recipe.epsilon);
  read_betas(options, recipe);
  exclude(options.epochs, options.steps);
  recipe.examples = integer_of(options.examples, 1, most);
  recipe.epochs = integer_of(options.epochs, 1, most);
  recipe.steps = integer_of(options.steps, 1, most);
  recipe.warmup = integer_of(options.warmup, 0, most);
  recipe.evaluate_every = integer_of(options.evaluate_every, 1, most);
  recipe.save_every = integer_of(options.save_every, 1, most);
  return recipe;
}

Json number_or_null(const std::optional<double>& value) {
  if (!value)
    return nullptr;
  constexpr double exact = 1e15; // whole numbers are counts
  if (*value == std::floor(*value) && std::abs(*value) < exact)
    return static_cast<std::int64_t>(*value);
  return json_number(*value);
}

Json sizes_json(const advice::StepSizes& sizes) {
  return {{"batch", sizes.batch},
          {"accumulate", sizes.accumulate},
          {"ranks", sizes.ranks},
          {"effective_batch", sizes.effective()}};
}

Json row_json(const RescaledValue& value) {
  Json others = Json::array();
  for (const advice::OtherValue& other : value.others)
    others.push_back({{"to", number_or_null(other.value)}, {"rule", other.rule}, {"source", other.source}});
  return {{"setting", value.key},
          {"from", number_or_null(value.from)},
          {"to", number_or_null(value.to)},
          {"factor", value.factor},
          {"rule", value.rule},
          {"caveat", value.caveat},
          {"source", value.source},
          {"others", others}};
}

/// The new values by name, and a row for each with its rule.
Json document(const advice::Rescaled& rescaled) {
  Json json{{"from", sizes_json(rescaled.from)}, {"to", sizes_json(rescaled.to)}, {"scale", rescaled.scale}};
  Json rows = Json::array();
  for (const RescaledValue& value : rescaled.values) {
    json[value.key] = number_or_null(value.to);
    rows.push_back(row_json(value));
  }
  json["rows"] = std::move(rows);
  return json;
}

std::string shown(const std::optional<double>& value) {
  return value ? figure(*value, 6) : "-";
}

std::string sizes_text(const advice::StepSizes& sizes) {
  return fmt::format("{} ({} x {} x {})", format_count(sizes.effective()), format_count(sizes.batch),
                     format_count(sizes.accumulate), format_count(sizes.ranks));
}

void print_text(const advice::Rescaled& rescaled) {
  const Palette palette = Palette::for_stdout();
  print(palette.paint(Colour::accent, fmt::format("effective batch {} -> {}: x {:.4g}", sizes_text(rescaled.from),
                                                  sizes_text(rescaled.to), rescaled.scale)) +
        "\n\n");
  Table table({{"setting", Table::Align::left},
               {"now"},
               {"new"},
               {"rule", Table::Align::left},
               {"source", Table::Align::left}});
  for (const RescaledValue& value : rescaled.values) {
    table.add({value.title, shown(value.from), shown(value.to), value.rule, value.source});
    for (const advice::OtherValue& other : value.others)
      table.add({"  or", "", shown(other.value), other.rule, other.source}, Colour::dim);
  }
  print(table.text(palette) + '\n');
  std::vector<std::pair<std::string, std::string>> caveats;
  for (const RescaledValue& value : rescaled.values)
    caveats.emplace_back(value.title, value.caveat);
  print(facts(caveats));
}

int run_rescale(const RescaleOptions& options, const Context& context) {
  const advice::Recipe recipe = recipe_of(options);
  const auto rescaled = advice::rescale(recipe, advice::parse_sizes(*text_of(options.to), "--to"));
  if (context.json)
    print_json(document(rescaled));
  else
    print_text(rescaled);
  return exit_status::done;
}

} // namespace

Verb add_rescale(CLI::App& program) {
  auto* app = program.add_subcommand("rescale", "Move a recipe to another effective batch, with the rule and the "
                                                "source of each setting");
  auto options = std::make_shared<RescaleOptions>();
  options->from = add_value(*app, "--from", "B,K,R,LR",
                            "Batch, accumulation, ranks and learning rate that the recipe was tuned at (required)");
  options->to = add_value(*app, "--to", "B,K,R", "The new batch, accumulation and ranks (required)");
  options->optimizer = add_value(*app, "--optimizer", "NAME", "sgd, adam or adamw; chooses the rule (default sgd)");
  options->rule = add_value(*app, "--lr-rule", "RULE",
                            "none, linear, sqrt or adascale (default: sqrt for adam and adamw, else linear)");
  options->noise_scale =
      add_value(*app, "--noise-scale", "B",
                "Noise scale of the gradient in examples, for AdaScale: the series noise_scale of a run");
  options->weight_decay = add_value(*app, "--weight-decay", "X", "Weight decay of the recipe");
  options->dropout = add_value(*app, "--dropout", "P", "Dropout of the recipe");
  options->ema = add_value(*app, "--ema", "DECAY", "Decay of the averaged weights");
  options->momentum = add_value(*app, "--momentum", "X", "Momentum (sgd)");
  options->betas = add_value(*app, "--betas", "B1,B2", "Betas of Adam (default 0.9,0.999)");
  options->epsilon = add_value(*app, "--epsilon", "X", "Epsilon of Adam (default 1e-8)");
  options->examples = add_value(*app, "--examples", "N", "Training examples in an epoch");
  options->epochs = add_value(*app, "--epochs", "E", "Length of the training in epochs");
  options->steps = add_value(*app, "--steps", "S", "Length of the training in optimizer steps");
  options->warmup = add_value(*app, "--warmup", "STEPS", "Warm-up of the recipe");
  options->evaluate_every = add_value(*app, "--evaluate-every", "STEPS", "Steps between two evaluations");
  options->save_every = add_value(*app, "--save-every", "STEPS", "Steps between two checkpoints");
  return {app, [options](const Context& context) { return run_rescale(*options, context); }};
}

} // namespace batchscope::cli
