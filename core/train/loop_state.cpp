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
  BeforeOutOfMemory before;
  read_member(json, "largest_nominal", before.largest_nominal);
  read_member(json, "longest", before.longest);
  read_member(json, "first_baseline", before.first_baseline);
  read_member(json, "baseline", before.baseline);
  read_member(json, "others_first", before.others_first);
  read_member(json, "others", before.others);
  return before;
}

/// A part of the state; an empty one where it is missing.
Json part_of(const Json& loop, const char* name) {
  const auto found = loop.find(name);
  return found == loop.end() || found->is_null() ? Json::object() : *found;
}

void read_loop(const Json& loop, LoopState& state) {
  const Json grow_back = part_of(loop, "grow_back");
  state.split.known = KnownSizes::from_json(part_of(loop, "known_sizes"));
  state.split.shortage = MemoryShortage::from_json(part_of(loop, "shortage"));
  read_member(grow_back, "quiet", state.split.grow_back.quiet);
  read_member(grow_back, "wait", state.split.grow_back.wait);
  read_member(loop, "largest_evaluation", state.evaluation.largest);
  state.evaluation.shortage = MemoryShortage::from_json(part_of(loop, "evaluation_shortage"));
  state.before = before_from_json(part_of(loop, "before"));
  read_member(loop, "changed_budget", state.changed_budget);
  read_member(loop, "largest_micro", state.largest_micro);
  read_member(loop, "evaluated_at", state.evaluated_at);
  read_member(loop, "evaluated_examples", state.evaluated_examples);
  read_member(loop, "best_score", state.best_score);
  state.seconds = state.progress.outcome().seconds;
  read_member(loop, "seconds", state.seconds);
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
    if (!loop.is_object())
      throw input_error("the checkpoint's text `loop` is no object");
    LoopState state;
    state.progress = telemetry::run_progress_from_json(parse_json(checkpoint.text("progress")));
    state.plan = checkpoint.text("plan");
    read_loop(loop, state);
    state.events = checkpoint.label.events;
    return state;
  } catch (const Json::exception& error) {
    throw input_error(fmt::format("the checkpoint at step {} cannot be read: {}", checkpoint.label.step, error.what()));
  }
}

} // namespace batchscope::train
