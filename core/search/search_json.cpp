// JSON form of a search, both directions.
#include <array>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/search/run_search.h"

namespace batchscope::search {

namespace {

constexpr std::array<Named<Outcome>, 3> outcomes{
    {{Outcome::fits, "fits"}, {Outcome::out_of_memory, "oom"}, {Outcome::error, "error"}}};

enum class Status { found, interrupted, nothing_fits };
constexpr std::array<Named<Status>, 3> statuses{
    {{Status::found, "found"}, {Status::interrupted, "interrupted"}, {Status::nothing_fits, "nothing-fits"}}};

Status status_of(const SearchResult& result) {
  return result.found ? Status::found : result.interrupted ? Status::interrupted : Status::nothing_fits;
}

std::optional<std::string> how_sure(const SearchResult& result) {
  return result.largest ? std::optional<std::string>(result.largest_is_exact ? "exact" : "tried") : std::nullopt;
}

} // namespace

template <typename Io> void fields(Io& io, typename Io::template Of<Probe>& probe) {
  io("batch", probe.batch);
  if constexpr (Io::reads)
    probe.outcome = Outcome::error; // unless it says another one
  io.named("outcome", probe.outcome, outcomes);
  io("peak_bytes", probe.peak_bytes);
  io("reserved_bytes", probe.reserved_bytes);
  io("predicted_bytes", probe.predicted_bytes);
  io("seconds", probe.seconds);
  io("examples_per_second", probe.examples_per_second);
  io.sparse("message", probe.message);
  io.sparse("how", probe.how);
  io.sparse("pid", probe.pid);
}

template <typename Io> void fields(Io& io, typename Io::template Of<Timing>& timing) {
  io("batch", timing.batch);
  io("seconds", timing.seconds);
  io("examples_per_second", timing.examples_per_second);
  if constexpr (Io::reads) // as earlier versions, which had one stretch
    timing.slowest = timing.fastest = timing.examples_per_second;
  io("slowest", timing.slowest);
  io("fastest", timing.fastest);
  io("stretches", timing.stretches);
  io("uncertainty", timing.uncertainty);
  io("lost", timing.lost);
}

template <typename Io> void fields(Io& io, typename Io::template Of<LeftOut>& size) {
  io("batch", size.batch);
  io("why", size.why);
}

template <typename Io> void fields(Io& io, typename Io::template Of<SearchResult>& result) {
  Status status = status_of(result);
  std::optional<std::string> sure = how_sure(result);
  io("strategy", result.strategy);
  io.named("status", status, statuses);
  io("largest", result.largest);
  io("largest_is", sure);
  io("safe", result.safe);
  io("recommended", result.recommended);
  io("automatic", result.automatic);
  io("reason", result.reason);
  io("probes", result.probes);
  io("checks", result.checks);
  io("left_out", result.left_out);
  io("timings", result.timings);
  if constexpr (Io::reads) {
    result.found = status == Status::found;
    result.interrupted = status == Status::interrupted;
    result.largest_is_exact = sure == "exact";
    if (const Json* memory = io.find_object("memory"))
      result.memory = predict::PeakCurve::from_json(json_text(*memory));
  } else {
    io.out()["memory"] = result.memory ? parse_json(result.memory->to_json()) : Json(nullptr);
  }
  io("baseline_bytes", result.baseline_bytes);
  io("budget_bytes", result.budget_bytes);
  io("seconds", result.seconds);
  if constexpr (Io::reads) {
    std::optional<SearchResult> evaluation;
    io("evaluation", evaluation);
    if (evaluation)
      result.evaluation = std::make_shared<const SearchResult>(*std::move(evaluation));
  } else if (result.evaluation) {
    io("evaluation", *result.evaluation);
  }
}

std::string to_json(const SearchResult& result, int indent) {
  return json_text(json_of_fields(result), indent);
}

SearchResult search_result_from_json(const std::string& text) {
  const Json json = parse_json(text);
  if (!json.is_object())
    throw input_error("the result of a search must be a JSON object");
  return value_of_fields<SearchResult>(json, JsonReader::Mistyped::stays);
}

const char* name_of_largest(bool exact) {
  return exact ? "largest" : "largest tried";
}

const char* to_string(Outcome outcome) {
  return name_of(outcome, outcomes);
}

} // namespace batchscope::search
