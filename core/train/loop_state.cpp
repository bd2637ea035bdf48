#include "core/train/detail/loop_state.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/telemetry/outcome_fields.h"

namespace batchscope::train {

namespace {

Json before_json(const BeforeOutOfMemory& before) {
  return {{"largest_nominal", before.largest_nominal}, {"longest", before.longest},
          {"first_baseline", before.first_baseline},   {"baseline", before.baseline},
          {"others_first", before.others_first},       {"others", before.others}};
}

BeforeOutOfMemory before_from_json(const Json& json) {
  return {.largest_nominal = json.at("largest_nominal").get<std::int64_t>(),
          .longest = json.at("longest").get<std::int64_t>(),
          .first_baseline = json.at("first_baseline").get<std::uint64_t>(),
          .baseline = json.at("baseline").get<std::uint64_t>(),
          .others_first = json.at("others_first").get<std::uint64_t>(),
          .others = json.at("others").get<std::uint64_t>()};
}

Json loop_json(const LoopState& state) {
  return {{"known_sizes", state.split.known.to_json()},
          {"shortage", state.split.shortage.to_json()},
          {"grow_back", {{"quiet", state.split.grow_back.quiet}, {"wait", state.split.grow_back.wait}}},
          {"largest_evaluation", state.evaluation.largest},
          {"evaluation_shortage", state.evaluation.shortage.to_json()},
          {"before", before_json(state.before)},
          {"changed_budget", state.changed_budget ? Json(*state.changed_budget) : Json(nullptr)},
          {"largest_micro", state.largest_micro},
          {"evaluated_at", state.evaluated_at},
          {"evaluated_examples", state.evaluated_examples},
          {"best_score", state.best_score ? json_number(*state.best_score) : Json(nullptr)},
          {"seconds", json_number(state.seconds)}};
}

} // namespace

void save(const LoopState& state, checkpoint::Checkpoint& to) {
  to.label.events = state.events;
  to.texts["progress"] = json_text(telemetry::to_json(state.progress));
  to.texts["plan"] = state.plan;
  to.texts["loop"] = json_text(loop_json(state));
}

LoopState loop_state(const checkpoint::Checkpoint& checkpoint) {
  try {
    const Json loop = parse_json(checkpoint.text("loop"));
    LoopState state;
    state.progress = telemetry::run_progress_from_json(parse_json(checkpoint.text("progress")));
    state.plan = checkpoint.text("plan");
    const Json& grow_back = loop.at("grow_back");
    state.split = {KnownSizes::from_json(loop.at("known_sizes")),
                   MemoryShortage::from_json(loop.at("shortage")),
                   {grow_back.at("quiet").get<std::int64_t>(), grow_back.at("wait").get<std::int64_t>()}};
    state.evaluation = {loop.at("largest_evaluation").get<std::int64_t>(),
                        MemoryShortage::from_json(loop.at("evaluation_shortage"))};
    state.before = before_from_json(loop.at("before"));
    if (const Json& budget = loop.at("changed_budget"); !budget.is_null())
      state.changed_budget = budget.get<std::uint64_t>();
    state.largest_micro = loop.at("largest_micro").get<std::int64_t>();
    state.evaluated_at = loop.at("evaluated_at").get<std::int64_t>();
    state.evaluated_examples = loop.at("evaluated_examples").get<std::int64_t>();
    if (const Json& best = loop.at("best_score"); !best.is_null())
      state.best_score = number_from_json(best);
    state.events = checkpoint.label.events;
    state.seconds = number_from_json(loop.at("seconds"));
    return state;
  } catch (const Json::exception& error) {
    throw input_error(fmt::format("the checkpoint at step {} cannot be read: {}", checkpoint.label.step, error.what()));
  }
}

} // namespace batchscope::train
