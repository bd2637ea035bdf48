#include "core/advice/run_facts.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/run/model_spec.h"
#include "core/schedule/learning_rate.h"
#include "core/store/run_reader.h"

namespace batchscope::advice {

namespace {

/// A number of an imported run's settings, under the first of these names that it has.
std::optional<double> number_in(const Json& settings, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const auto found = settings.find(name);
    if (found == settings.end())
      continue;
    if (found->is_number())
      return found->get<double>();
    if (found->is_string()) { // MLflow stores texts
      const std::string text = found->get<std::string>();
      char* end = nullptr;
      const double value = std::strtod(text.c_str(), &end);
      if (end != text.c_str() && *end == '\0' && std::isfinite(value))
        return value;
    }
  }
  return std::nullopt;
}

constexpr double most_counted = 1e15;

std::optional<std::int64_t> count_in(const Json& settings, std::initializer_list<const char*> names) {
  const auto value = number_in(settings, names);
  return value && *value >= 0 && *value <= most_counted ? std::optional<std::int64_t>(std::llround(*value))
                                                        : std::nullopt;
}

/// Nothing for 0, too: what others have stored may be divided by.
std::optional<std::int64_t> size_in(const Json& settings, std::initializer_list<const char*> names) {
  const auto size = count_in(settings, names);
  return size && *size > 0 ? size : std::nullopt;
}

/// Product of sizes that others have stored, at most `most_counted`.
std::int64_t product(std::int64_t one, std::int64_t other) {
  const double exact = static_cast<double>(one) * static_cast<double>(other);
  return exact <= most_counted ? one * other : static_cast<std::int64_t>(most_counted);
}

std::string text_in(const Json& settings, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto found = settings.find(name); found != settings.end() && found->is_string())
      return found->get<std::string>();
  return {};
}

const store::SeriesSummary* find(const std::vector<store::SeriesSummary>& series, const char* name) {
  const auto found = std::find_if(series.begin(), series.end(), [&](const auto& each) { return each.name == name; });
  return found == series.end() ? nullptr : &*found;
}

/// Whether a model has batch norm; false for a text that is no model of this program.
bool uses_batch_norm(const std::string& model) {
  try {
    return run::has_batch_norm(run::parse_model(model));
  } catch (const Error&) {
    return false;
  }
}

/// Settings that both this program's runs and others may have.
void take_common(RunFacts& facts) {
  const Json& settings = facts.settings;
  if (const std::string precision = text_in(settings, {"precision"});
      precision == "tf32" || precision == "bf16" || precision == "fp16")
    facts.precision = precision;
  if (const auto found = settings.find("checkpointing"); found != settings.end() && found->is_boolean())
    facts.checkpointing = found->get<bool>();
  facts.ema = number_in(settings, {"ema"});
}

void take_own(RunFacts& facts) {
  const run::RunSpec& spec = *facts.own;
  const run::RunStart& start = facts.start;
  if (!facts.batch && spec.batch.kind == run::BatchChoice::Kind::number)
    facts.batch = spec.batch.number;
  facts.accumulate = spec.accumulate;
  if (facts.batch)
    facts.effective_batch = spec.effective_batch.value_or(*facts.batch * spec.accumulate);
  facts.reference_batch = spec.lr_reference_batch ? spec.lr_reference_batch : facts.effective_batch;
  facts.learning_rate = run::learning_rate_or_default(spec);
  facts.optimizer = spec.optimizer;
  facts.fine_tuning = spec.task == "fine-tuning";
  facts.batch_norm = uses_batch_norm(spec.model);
  facts.warmup_steps = start.warmup_steps;
  if (start.train_examples > 0)
    facts.train_examples = start.train_examples;
  if (spec.length.epochs)
    facts.epochs = static_cast<double>(*spec.length.epochs);
  if (facts.effective_batch && facts.reference_batch)
    facts.first_rate = schedule::scaled_rate(*facts.learning_rate, schedule::parse_rule(spec.lr_rule),
                                             *facts.effective_batch, *facts.reference_batch);
}

void take_foreign(RunFacts& facts) {
  const Json& settings = facts.settings;
  if (!facts.batch)
    facts.batch = size_in(settings, {"batch", "batch_size"});
  facts.accumulate =
      size_in(settings, {"accumulate", "gradient_accumulation_steps", "accumulate_grad_batches"}).value_or(1);
  facts.effective_batch = size_in(settings, {"effective_batch", "total_train_batch_size"});
  if (!facts.effective_batch && facts.batch)
    facts.effective_batch = product(*facts.batch, facts.accumulate);
  facts.learning_rate = number_in(settings, {"lr", "learning_rate"});
  facts.first_rate = facts.learning_rate;
  facts.warmup_steps = count_in(settings, {"warmup", "warmup_steps"});
  facts.train_examples = count_in(settings, {"train_examples", "num_train_examples"});
  facts.optimizer = text_in(settings, {"optimizer", "optim"});
  facts.fine_tuning = text_in(settings, {"task"}) == "fine-tuning";
  facts.batch_norm = text_in(settings, {"norm"}) == "batch";
  facts.epochs = number_in(settings, {"epochs", "num_train_epochs", "max_epochs"});
  facts.ema_updates_per_step = number_in(settings, {"ema_updates_per_step"});
}

/// `AdamW` of PyTorch and `adamw_torch_fused` of a Trainer are both `adamw`.
std::string kind_of_optimizer(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.starts_with("adamw") ? "adamw" : name;
}

/// The user's own program has said how it begins; its optimizer and rates are its own.
void take_program(RunFacts& facts, const run::RunSpec& spec) {
  const run::RunStart& start = facts.start;
  if (!facts.batch && start.batch > 0)
    facts.batch = start.batch;
  facts.accumulate = std::max<std::int64_t>({1, start.accumulate, spec.accumulate});
  facts.ranks = start.program ? std::max<std::int64_t>(start.program->ranks, 1) : 1;
  if (facts.batch)
    facts.effective_batch = product(product(*facts.batch, facts.accumulate), facts.ranks);
  if (start.train_examples > 0)
    facts.train_examples = start.train_examples;
  if (!start.program)
    return;
  if (start.program->length.epochs)
    facts.epochs = static_cast<double>(*start.program->length.epochs);
  if (Json declared = parse_json_or_discard(start.program->settings); declared.is_object())
    facts.declared = std::move(declared);
  facts.learning_rate = facts.first_rate = number_in(facts.declared, {"learning_rate"});
  facts.warmup_steps = count_in(facts.declared, {"warmup_steps"});
  facts.optimizer = kind_of_optimizer(text_in(facts.declared, {"optimizer"}));
  if (const std::string precision = text_in(facts.declared, {"precision"}); precision == "bf16" || precision == "fp16")
    facts.precision = precision;
  facts.checkpointing = facts.declared.value("gradient_checkpointing", Json()) == Json(true);
}

void take_series(RunFacts& facts, const std::vector<store::SeriesSummary>& series) {
  const auto whole = [](double value) -> std::int64_t { return std::llround(std::min(value, most_counted)); };
  if (const auto* micro = find(series, "micro_batch"); micro != nullptr && micro->max >= 1)
    facts.micro_batch = whole(micro->max);
  else
    facts.micro_batch = facts.batch;
  facts.last_effective = facts.effective_batch;
  const bool fixed = facts.own && facts.own->effective_batch;
  if (const auto* batch = find(series, "batch"); batch != nullptr && batch->max >= 1 && !fixed)
    facts.last_effective = std::max<std::int64_t>(facts.effective_batch.value_or(0),
                                                  product(product(whole(batch->max), facts.accumulate), facts.ranks));
  if (const auto* updates = find(series, "ema_updates"); updates != nullptr && updates->last_step > 0)
    facts.ema_updates_per_step = updates->last / static_cast<double>(updates->last_step);
}

/// The highest rate of the steps. Where BatchScope scaled the program's rate with a batch that grew, each as it would
/// have been with the first batch.
double highest_rate(const store::RunReader& reader, const RunFacts& facts, const std::string& rule_text,
                    double highest) {
  const auto rule = schedule::parse_rule(rule_text);
  const bool scaled = rule == schedule::LearningRateRule::linear || rule == schedule::LearningRateRule::square_root;
  if (!scaled || !facts.batch || facts.last_effective == facts.effective_batch)
    return highest;
  const auto batches = reader.series(facts.row.id, "batch");
  auto batch = batches.begin();
  double at_first = 0;
  for (const store::Point& rate : reader.series(facts.row.id, "learning_rate")) {
    batch = std::find_if(batch, batches.end(), [&](const store::Point& each) { return each.step >= rate.step; });
    if (batch == batches.end())
      break;
    if (batch->step == rate.step && batch->value >= 1)
      at_first =
          std::max(at_first, rate.value / schedule::scaled_rate(1, rule, std::llround(batch->value), *facts.batch));
  }
  return at_first > 0 ? at_first : highest;
}

/// The rate of the steps takes precedence over the declared rate: a program may scale the rate that it declares, or
/// warm up to it.
void take_highest_rate(RunFacts& facts, const store::RunReader& reader, const std::string& rule,
                       const std::vector<store::SeriesSummary>& series) {
  const auto* rate = find(series, "learning_rate");
  if (rate == nullptr || !std::isfinite(rate->max) || rate->max <= 0)
    return;
  const double highest = highest_rate(reader, facts, rule, rate->max);
  facts.rate_of_steps = facts.first_rate != highest;
  facts.first_rate = highest;
}

/// Nothing if the search is not in this database.
std::optional<std::int64_t> largest_of_search(const store::RunReader& reader, std::int64_t search) {
  try {
    const Json json = parse_json_or_discard(reader.search_json(search));
    return json.is_object() ? count_in(json, {"largest"}) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

} // namespace

RunFacts read_facts(const store::RunReader& reader, std::int64_t run) {
  RunFacts facts;
  facts.row = reader.run(run);
  const std::string spec = reader.spec_json(run);
  if (const Json settings = parse_json_or_discard(spec); settings.is_object())
    facts.settings = settings;
  facts.own = run::stored_spec(spec);
  facts.start = run::stored_start(reader.start_json(run));
  if (facts.row.outcome.batch && *facts.row.outcome.batch > 0)
    facts.batch = facts.row.outcome.batch; // a program may not tell it
  const auto program = facts.own && facts.own->program ? std::exchange(facts.own, std::nullopt) : std::nullopt;
  if (program)
    take_program(facts, *program);
  else if (facts.own)
    take_own(facts);
  else
    take_foreign(facts);
  if (!facts.epochs && facts.row.outcome.epoch > 0)
    facts.epochs = facts.row.outcome.epoch;
  take_common(facts);
  facts.rest = rest_of(facts.settings, facts.declared);
  const auto series = reader.summaries(run);
  take_series(facts, series);
  if (program || !facts.first_rate)
    take_highest_rate(facts, reader, program ? program->lr_rule : "none", series);
  if (facts.start.search)
    facts.largest_batch = largest_of_search(reader, *facts.start.search);
  return facts;
}

std::vector<RunFacts> read_sweep(const store::RunReader& reader, std::int64_t sweep) {
  std::vector<RunFacts> runs;
  for (const store::RunRow& row : reader.present(reader.runs_of_sweep(sweep)))
    runs.push_back(read_facts(reader, row.id));
  return runs;
}

std::string rest_of(const Json& settings, const Json& declared) {
  Json rest = settings;
  for (const char* key :
       {"batch", "accumulate", "effective_batch", "max_batch", "lr", "lr_rule", "lr_reference_batch", "lr_decay",
        "warmup", "weight_decay", "dropout", "label_smoothing", "regularization_rule", "seed", "name"})
    rest.erase(key);
  Json program = declared;
  for (const char* key : {"learning_rate", "lr_scheduler_type", "warmup_steps", "warmup_ratio", "weight_decay",
                          "label_smoothing", "seed"})
    program.erase(key);
  return json_text(Json::array({std::move(rest), std::move(program)}));
}

} // namespace batchscope::advice
