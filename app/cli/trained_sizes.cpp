#include "app/cli/trained_sizes.h"

#include <utility>

#include "app/cli/sweep_plan.h"
#include "core/compare/runs.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/sweep/sweep.h"

namespace batchscope::cli {

TrainedSizes train_sizes(const sweep::SweepSpec& spec, const std::shared_ptr<data::DataPool>& pool,
                         store::RunStore& store, Display& display, const std::shared_ptr<run::JobControl>& control,
                         const Context& context) {
  const compare::Goal goal = compare::parse_goal(spec.goal, "--goal");
  TrainedSizes trained{.goal = spec.goal, .is_time = goal.kind == compare::Goal::Kind::target, .answer = {}};
  sweep::SweepPlan plan = sweep::plan_sweep(spec, pool);
  display.say(prediction_line(plan, context));
  trained.sweep = store.add_sweep(sweep::to_json(spec));
  const sweep::SweepResult result = sweep::run_sweep(std::move(plan), trained.sweep, store, display, control);
  trained.stopped = result.stopped;
  const store::RunReader reader(context.database());
  trained.answer = compare::answer(compare::Comparison(compare::read_runs(reader, result.runs)), goal);
  return trained;
}

Json sizes_json(const TrainedSizes& trained) {
  Json sizes = Json::array();
  for (const compare::Standing& standing : trained.answer.standings) {
    Json results = Json::array();
    for (const double result : standing.results)
      results.push_back(json_number(result));
    sizes.push_back({{"batch", standing.group.batch ? Json(*standing.group.batch) : Json(nullptr)},
                     {trained.is_time ? "seconds" : "scores", results},
                     {"same_as_best", standing.same_as_best}});
  }
  return sizes;
}

std::string sizes_table(const TrainedSizes& trained) {
  Table table({{"trained batch size"},
               {trained.is_time ? "time to the score" : "validation score", Table::Align::left},
               {"", Table::Align::left}});
  for (const compare::Standing& standing : trained.answer.standings) {
    const bool chosen = standing.group.batch == trained.answer.batch;
    table.add({count_or_dash(standing.group.batch), standing.text.empty() ? "-" : standing.text,
               chosen                  ? "recommended"
               : standing.same_as_best ? "no clear difference from the best"
                                       : ""},
              chosen ? Colour::good : Colour::plain);
  }
  return table.text(Palette::for_stdout());
}

} // namespace batchscope::cli
