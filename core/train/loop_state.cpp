#include "core/train/detail/loop_state.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/telemetry/outcome_fields.h"

namespace batchscope::train {

template <typename Io> void fields(Io& io, typename Io::template Of<GrowBack::State>& state) {
  io("quiet", state.quiet);
  io("wait", state.wait);
}

template <typename Io> void fields(Io& io, typename Io::template Of<BeforeOutOfMemory>& before) {
  io("largest_nominal", before.largest_nominal);
  io("limit", before.limit);
  io("longest", before.longest);
  io("first_baseline", before.first_baseline);
  io("baseline", before.baseline);
  io("others_first", before.others_first);
  io("others", before.others);
}

/// All but the progress and the plan, which are texts of their own.
template <typename Io> void fields(Io& io, typename Io::template Of<LoopState>& state) {
  io("known_sizes", state.split.known);
  io("shortage", state.split.shortage);
  io("grow_back", state.split.grow_back);
  io("largest_evaluation", state.evaluation.largest);
  io("evaluation_shortage", state.evaluation.shortage);
  io("before", state.before);
  io("changed_budget", state.changed_budget);
  io("largest_micro", state.largest_micro);
  io("peak_by_use", state.peak_by);
  io("evaluated_at", state.evaluated_at);
  io("evaluated_examples", state.evaluated_examples);
  io("best_score", state.best_score);
  io("seconds", state.seconds);
}

void save(const LoopState& state, checkpoint::Checkpoint& to) {
  to.label.events = state.events;
  to.texts["progress"] = json_text(telemetry::to_json(state.progress));
  to.texts["plan"] = state.plan;
  to.texts["loop"] = json_text(json_of_fields(state));
}

LoopState loop_state(const checkpoint::Checkpoint& checkpoint) {
  const std::string& loop_text = checkpoint.text("loop");
  const std::string& progress = checkpoint.text("progress");
  const std::string& plan = checkpoint.text("plan");
  const auto unreadable = [&](const std::exception& error) {
    return input_error(
        fmt::format("the checkpoint at step {} cannot be read: {}", checkpoint.label.step, error.what()));
  };
  try {
    const Json loop = parse_json(loop_text);
    if (!loop.is_object())
      throw input_error("the text `loop` is no object");
    LoopState state;
    state.progress = telemetry::run_progress_from_json(parse_json(progress));
    state.plan = plan;
    state.seconds = state.progress.outcome().seconds; // of earlier versions
    JsonReader reader(loop, JsonReader::Mistyped::refused, "loop");
    fields(reader, state);
    state.events = checkpoint.label.events;
    return state;
  } catch (const Json::exception& error) {
    throw unreadable(error);
  } catch (const Error& error) {
    throw unreadable(error);
  }
}

} // namespace batchscope::train
