#include <algorithm>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/describe.h"
#include "app/cli/display.h"
#include "app/cli/interrupt.h"
#include "app/cli/program_options.h"
#include "app/cli/run_options.h"
#include "app/cli/trained_sizes.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/estimate/card_fit.h"
#include "core/job/job.h"
#include "core/predict/memory_model.h"
#include "core/program/trial/card_savings.h"
#include "core/program/trial/card_search.h"
#include "core/program/trial/program_search.h"
#include "core/run/engine.h"
#include "core/run/session.h"
#include "core/search/run_search.h"
#include "core/search/strategy.h"
#include "core/store/run_store.h"
#include "core/sweep/size_sweep.h"

namespace batchscope::cli {

namespace {

struct FindOptions {
  RunOptions run;
  ProgramOptions program;
  CLI::Option* strategy = nullptr;
  CLI::Option* start = nullptr;
  CLI::Option* factor = nullptr;
  CLI::Option* capacity = nullptr;
  CLI::Option* no_timings = nullptr;
  CLI::Option* evaluation = nullptr;
  CLI::Option* target = nullptr;
  CLI::Option* no_changes = nullptr;
  CLI::Option* goal = nullptr;
  CLI::Option* repeats = nullptr;

  /// The goal for which sizes are to be trained; nothing for throughput, which a search measures.
  std::optional<std::string> trained_goal() const {
    const auto text = text_of(goal);
    const bool trains = text && compare::parse_goal(*text, "--goal").kind != compare::Goal::Kind::throughput;
    return trains ? text : std::nullopt;
  }
};

/// Far above every real device, and far enough below the end of the numbers for a size to be doubled.
constexpr std::int64_t largest_pretended = std::int64_t{1} << 60;

constexpr const char* stopped_at_once = "stopped before a size was tried; nothing was stored";

std::string strategy_of(const FindOptions& options) {
  return search::strategy(text_of(options.strategy).value_or("predictive")).name;
}

double factor_of(const FindOptions& options) {
  const double factor = number_of(options.factor).value_or(0.9);
  if (!(factor > 0 && factor < 1))
    throw input_error(fmt::format("--factor: {} is not accepted; accepted: a number between 0 and 1", factor));
  return factor;
}

void print_result(const search::SearchResult& result, std::optional<std::int64_t> id, const Context& context,
                  const std::optional<TrainedSizes>& trained = std::nullopt) {
  Json json = parse_json(search::to_json(result));
  json["search"] = id ? Json(*id) : Json(nullptr);
  if (trained) {
    json["goal"] = trained->goal;
    json["sweep"] = trained->sweep;
    json["trained"] = sizes_json(*trained);
    json["certain"] = trained->answer.certain();
    json["recommended"] = trained->answer.batch ? Json(*trained->answer.batch) : Json(nullptr);
    json["reason"] = trained->answer.text;
  }
  if (context.json) {
    print_json(json);
    return;
  }
  print(search_text(json, Palette::for_stdout()));
  if (trained) {
    print("\n" + sizes_table(*trained) + "\n");
    print(fmt::format("stored as search {} and sweep {}; `compare --sweep {} --goal {}` shows each run\n", *id,
                      trained->sweep, trained->sweep, trained->goal));
  } else if (id)
    print(fmt::format("stored as search {}\n", *id));
}

bool is_length_given(const FindOptions& options) {
  const std::initializer_list<const char*> lengths{"--epochs", "--examples", "--steps"};
  return std::any_of(lengths.begin(), lengths.end(),
                     [&](const char* option) { return options.run.find(option)->count() > 0; });
}

int status_of(const search::SearchResult& result) {
  if (result.interrupted)
    return exit_status::interrupted;
  return result.found ? exit_status::done : exit_status::job_failed;
}

/// On a pretended device; nothing is stored.
int find_pretended(const FindOptions& options, const run::RunSpec& spec, const Context& context) {
  const auto given = options.run.given();
  for (const auto& name : given)
    if (name != "--max-batch" && name != "--margin")
      throw input_error(
          fmt::format("{} has no effect with --capacity, which simulates a device; accepted: one of them", name));
  search::FinderOptions finder_options;
  finder_options.start = integer_of(options.start);
  finder_options.factor = factor_of(options);
  finder_options.max_batch = spec.max_batch.value_or(largest_pretended);
  finder_options.margin = spec.margin;
  const auto finder = search::make_finder(strategy_of(options), finder_options);
  search::SimulatedDevice trial(*integer_of(options.capacity, 0, largest_pretended));
  const auto result = search::run_search(*finder, trial, finder_options);
  print_result(result, std::nullopt, context);
  return status_of(result);
}

/// Computed from dry runs; nothing is run or stored. The recommended size would have to be measured.
int find_for_target(const FindOptions& options, const run::RunSpec& spec, const Context& context) {
  for (const CLI::Option* other : std::initializer_list<const CLI::Option*>{
           options.strategy, options.start, options.factor, options.capacity, options.no_timings, options.goal,
           options.run.find("--memory-budget"), options.run.find("--device")})
    exclude(options.target, other);
  const estimate::Target target = estimate::parse_target(*text_of(options.target), "--for");
  data::DataPool pool;
  estimate::DryRuns dry_runs(target);
  const estimate::CardFit fit = estimate::fit_into(spec, dry_runs, pool);
  if (context.json) {
    print_json({{"computed", true},
                {"found", fit.prediction.largest.has_value()},
                {"largest", json_or_null(fit.prediction.largest)},
                {"safe", json_or_null(fit.prediction.safe)},
                {"recommended", nullptr},
                {"for", target.name.empty() ? Json(nullptr) : Json(target.name)},
                {"not_on_card", fit.not_on_card.empty() ? Json(nullptr) : Json(fit.not_on_card)},
                {"budget_bytes", target.usable_bytes()},
                {"peak_bytes",
                 fit.prediction.largest ? Json(fit.prediction.at(*fit.prediction.largest).bytes) : Json(nullptr)},
                {"reserved_bytes", fit.steps ? Json(fit.steps->reserved_bytes) : Json(nullptr)}});
  } else {
    std::vector<std::pair<std::string, std::string>> rows{
        {"computed", fit.steps ? fmt::format("steps of the trainer on a pretended {}, its kernels not run", target.name)
                               : "a dry run of the trainer's own step"}};
    if (!fit.not_on_card.empty())
      rows.back().second += fmt::format(" as on cpu ({})", fit.not_on_card);
    rows.emplace_back("usable memory",
                      target.name.empty() ? format_bytes(target.usable_bytes()) : estimate::usable_text(target));
    if (dry_runs.for_card())
      rows.emplace_back("not included", estimate::not_included_text(target));
    rows.insert(rows.end(), {{"largest", count_or_dash(fit.prediction.largest)},
                             {"safe", count_or_dash(fit.prediction.safe)},
                             {"recommended", "- (its throughput must be measured)"}});
    print(facts(rows));
  }
  return fit.prediction.largest ? exit_status::done : exit_status::job_failed;
}

run::Session::SearchOptions search_options_of(const FindOptions& options, const run::RunSpec& spec) {
  run::Session::SearchOptions search_options;
  search_options.strategy = strategy_of(options);
  search_options.start = integer_of(options.start);
  search_options.factor = factor_of(options);
  search_options.margin = spec.margin;
  search_options.timings = options.no_timings->count() == 0;
  search_options.evaluation = options.evaluation->count() > 0;
  return search_options;
}

Json changes_json(const std::vector<program::CardSaving>& savings) {
  Json changes = Json::array();
  for (const program::CardSaving& saving : savings)
    changes.push_back({{"change", saving.name},
                       {"title", saving.title},
                       {"batch", saving.batch},
                       {"peak_bytes", json_or_null(saving.peak_bytes)},
                       {"largest", json_or_null(saving.largest)},
                       {"why_not", saving.why_not.empty() ? Json(nullptr) : Json(saving.why_not)}});
  return changes;
}

std::string changes_table(const std::vector<program::CardSaving>& savings) {
  if (savings.empty())
    return "";
  Table table({{"with one change", Table::Align::left},
               {"peak at batch size " + format_count(savings.front().batch)},
               {"largest batch, about"},
               {"", Table::Align::left}});
  for (const program::CardSaving& saving : savings)
    table.add({saving.title, saving.peak_bytes ? format_bytes(*saving.peak_bytes) : "-", count_or_dash(saving.largest),
               saving.why_not.empty() ? "" : "not tried: " + saving.why_not});
  return table.text(Palette::for_stdout());
}

std::string text_on_card(const Json& json, const std::vector<program::CardSaving>& savings,
                         const estimate::Target& card) {
  return search_text(json, Palette::for_stdout()) + changes_table(savings) +
         fmt::format("computed on a pretended {}: {}\nnot included: {}\n", card.name, program::how_on_card,
                     estimate::not_included_text(card));
}

/// Finds the sizes of a program of the user's own, on a card that need not be here; nothing is stored.
int find_of_program_for(const FindOptions& options, run::RunSpec spec, const Context& context) {
  for (const CLI::Option* other : std::initializer_list<const CLI::Option*>{
           options.capacity, options.goal, options.repeats, options.no_timings, options.evaluation,
           options.run.find("--memory-budget"), options.run.find("--device")})
    exclude(options.target, other);
  const estimate::Target card = estimate::parse_target(*text_of(options.target), "--for");
  options.program.apply(spec, *context.command, options.run);
  spec = program::card_spec(spec, card);
  run::Session::SearchOptions search_options = search_options_of(options, spec);
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control);
  search_options.stop = [&] { return control->stopping(); };
  search::SearchResult result;
  std::vector<program::CardSaving> savings;
  std::map<std::int64_t, predict::Peak> peaks; ///< by size
  {
    Display display(context);
    try {
      result = program::find_on_card(
          spec, card, options.program.surroundings(), search_options, [&](const search::Probe& probe) {
            display.probe(probe, card.usable_bytes());
            if (probe.trace)
              peaks.insert_or_assign(probe.batch, predict::MemoryModel::peak_of(*probe.trace));
          });
    } catch (const Error&) {
      if (!control->stopping())
        throw;
      return exit_status::interrupted;
    }
    if (!result.interrupted && options.no_changes->count() == 0)
      program::savings_on_card(
          spec, card, options.program.surroundings(), result, search_options.stop,
          [&](const program::CardSaving& saving) {
            savings.push_back(saving);
            display.say(fmt::format("with {}: largest about {}", saving.title, count_or_dash(saving.largest)));
          });
  }
  Json json = parse_json(search::to_json(result));
  json["search"] = nullptr;
  json["computed"] = true;
  json["for"] = card.name;
  json["overhead_bytes"] = card.overhead_bytes;
  json["changes"] = changes_json(savings);
  if (const auto filled = result.largest ? peaks.find(*result.largest) : peaks.end(); filled != peaks.end())
    json["by"] = by_use_json(filled->second.by);
  if (context.json)
    print_json(json);
  else
    print(text_on_card(json, savings, card));
  return status_of(result);
}

/// Finds the sizes of a program of the user's own.
int find_of_program(const FindOptions& options, run::RunSpec spec, const Context& context) {
  if (options.target->count() > 0)
    return find_of_program_for(options, std::move(spec), context);
  for (const CLI::Option* other : {options.capacity, options.goal, options.repeats})
    if (other->count() > 0)
      throw input_error(
          fmt::format("{} is not accepted for a program of your own; accepted: without it", other->get_name()));
  options.program.apply(spec, *context.command, options.run);
  const run::RunSpec searched = program::search_spec(spec);
  spec.memory_budget = searched.memory_budget;
  const run::Session::SearchOptions search_options = search_options_of(options, spec);
  refuse_unusable(context.database());
  store::RunStore store(context.database()); // a disk that is full must not cost the result
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control);
  std::optional<job::StoredSearch> stored;
  {
    Display display(context);
    stored = job::search_and_store(
        spec, search_options, searched.memory_budget.value_or(0),
        [&](const auto& settled, const auto& on_probe) {
          return program::find_batch(searched, options.program.surroundings(), settled, on_probe);
        },
        store, display, *control);
    if (!stored)
      display.say(stopped_at_once);
  }
  if (!stored)
    return exit_status::interrupted;
  print_result(stored->result, stored->id, context);
  return status_of(stored->result);
}

int find_on_device(const FindOptions& options, const run::RunSpec& spec, const Context& context) {
  const run::Session::SearchOptions search_options = search_options_of(options, spec);
  refuse_unusable(context.database());
  const auto pool = std::make_shared<data::DataPool>();
  auto session = run::open_session(spec, pool);
  const data::DataSplit data = session->data(); // which the runs need, too
  // Before the search, so that a disk that is full does not cost its result.
  store::RunStore store(context.database());
  const auto control = std::make_shared<run::JobControl>();
  const InterruptGuard guard(*control);
  std::optional<job::StoredSearch> stored;
  std::optional<TrainedSizes> trained;
  {
    Display display(context);
    stored = job::search_and_store(
        spec, search_options, session->budget_bytes(),
        [&](const auto& settled, const auto& on_probe) { return session->find(settled, on_probe); }, store, display,
        *control);
    if (!stored)
      display.say(stopped_at_once);
    const auto goal = options.trained_goal();
    if (goal && stored && stored->result.found && !stored->result.interrupted) {
      session.reset(); // its model would take from the budget of the runs
      sweep::SweepSpec sizes = sweep::size_sweep(spec, stored->result, stored->id, *goal, is_length_given(options));
      sizes.repeats = integer_of(options.repeats).value_or(sizes.repeats);
      check(sizes);
      trained = train_sizes(sizes, pool, store, display, control, context);
    }
  }
  if (!stored)
    return exit_status::interrupted;
  print_result(stored->result, stored->id, context, trained);
  return trained && trained->stopped ? exit_status::interrupted : status_of(stored->result);
}

int run_find(const FindOptions& options, const Context& context) {
  run::RunSpec spec;
  options.run.apply(spec);
  if (options.no_changes->count() > 0 && (options.target->count() == 0 || !context.command))
    throw input_error("--no-changes has no effect without --for and -- COMMAND; accepted: with both");
  if (context.command)
    return find_of_program(options, spec, context);
  options.program.refuse_given();
  if (options.evaluation->count() > 0)
    throw input_error("--evaluation is about a program of your own; accepted: with -- COMMAND");
  check(spec);
  exclude(options.goal, options.capacity);
  exclude(options.goal, options.no_timings);
  const bool trains = options.trained_goal().has_value(); // an invalid goal is refused before anything is searched
  if (options.repeats->count() > 0 && !trains)
    throw input_error("--repeats has no effect without sizes to train; accepted: with --goal accuracy, target or time");
  if (options.capacity->count() > 0)
    return find_pretended(options, spec, context);
  if (options.target->count() > 0)
    return find_for_target(options, spec, context);
  return find_on_device(options, spec, context);
}

} // namespace

Verb add_find(CLI::App& program) {
  auto* app = program.add_subcommand("find", "Find the largest, the safe and the recommended batch size");
  auto options = std::make_shared<FindOptions>();
  options->strategy = add_value(*app, "--strategy", "NAME", "How to search (default predictive)");
  std::string help = "Strategies:";
  for (const search::Strategy* strategy : search::strategies())
    help += fmt::format("\n  {:<11} {}", strategy->name, strategy->help);
  options->start = add_value(*app, "--start", "N", "First batch size to try (default: depends on the strategy)");
  options->factor =
      add_value(*app, "--factor", "F",
                "Strategy shrink: the next size is this fraction of the one that did not fit (default 0.9)");
  options->capacity = add_value(*app, "--capacity", "C", "Simulate a device that fits batch sizes up to C");
  options->no_timings =
      add_switch(*app, "--no-timings", "Do not measure throughput; the result then has no recommended size");
  options->evaluation = add_switch(*app, "--evaluation",
                                   "Also find the batch size of the evaluation of an attached Trainer, beside steps of "
                                   "the recommended size");
  options->target = add_value(
      *app, "--for", "SIZE|CARD",
      "Compute, without running anything, what fits into 24GB (decimal), 24GiB or a GPU such as rtx-4090. With "
      "-- COMMAND, of a GPU by its name: the program runs on a pretended one, with torch's own allocator, and "
      "computes nothing");
  options->no_changes = add_switch(*app, "--no-changes",
                                   "With --for and -- COMMAND: do not compute what changes of the program would save");
  options->goal = add_value(*app, "--goal", "GOAL",
                            "What the recommended size is best for. throughput (default): the smallest within 5 % of "
                            "the most examples per second. The others train up to seven of the sizes that fit: "
                            "accuracy: the best validation score at the end of the run; target:97%: the shortest time "
                            "to that score; time:60s: the best score within that time");
  options->repeats =
      add_value(*app, "--repeats", "N", "Runs of each size that --goal trains, with different seeds (default 3)");
  options->run.add_to(*app, {"--batch", "--name", "--save"});
  options->program.add_to(*app);
  app->footer(
      help + "\n" + schedule_help() +
      "With -- COMMAND, the batch size of a training program of your own is found, by starting it once for each\n"
      "size; its command has {batch}. " +
      placeholder_help());
  return {app, [options](const Context& context) { return run_find(*options, context); }};
}

} // namespace batchscope::cli
