// The trace of a step, as a program lists it: n > 0 allocates n bytes, -i frees the i-th block, [n] frees n bytes of a
// block from before.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/program/protocol/detail/fields.h"

namespace batchscope::program {

namespace {

using telemetry::Phase;

/// More than any machine has.
constexpr std::int64_t largest_block = std::int64_t{1} << 48;
constexpr std::int64_t most_bytes = std::int64_t{1} << 60;

Phase phase_named(const std::string& name) {
  if (name == "forward")
    return Phase::forward;
  if (name == "backward")
    return Phase::backward;
  if (name == "update")
    return Phase::update;
  return Phase::batch;
}

std::int64_t bytes_in(const Json& value) {
  const std::int64_t bytes = integer_in(value, "events", 0);
  if (bytes > largest_block)
    throw input_error(fmt::format("events: a block of {} bytes", bytes));
  return bytes;
}

/// Adds events one after the other and follows the bytes in use.
class Replay {
public:
  explicit Replay(telemetry::Trace& trace) : trace_(trace), in_use_(static_cast<std::int64_t>(trace.start_bytes)) {
    trace_.peak_bytes = trace_.start_bytes;
  }

  void set_phase(Phase phase) { phase_ = phase; }

  void add(const Json& event) {
    if (event.is_array() && event.size() == 1)
      return free_from_before(bytes_in(event[0]));
    if (!event.is_number_integer())
      throw input_error(fmt::format("events has {}; accepted: bytes, -BLOCK or [bytes]", shortened(json_text(event))));
    if (event.is_number_unsigned() || event.get<std::int64_t>() > 0)
      allocate(bytes_in(event));
    else
      free(event.get<std::int64_t>());
  }

private:
  void allocate(std::int64_t bytes) {
    const auto granularity = static_cast<std::int64_t>(trace_.granularity);
    const std::int64_t counted = (bytes + granularity - 1) / granularity * granularity;
    trace_.events.push_back(
        {static_cast<std::uint32_t>(blocks_.size()), true, phase_, static_cast<std::uint64_t>(bytes)});
    blocks_.push_back(counted);
    in_use_ += counted;
    if (in_use_ > most_bytes)
      throw input_error("events allocate more than 2^60 bytes");
    trace_.peak_bytes = std::max(trace_.peak_bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(in_use_, 0)));
  }

  void free(std::int64_t event) {
    const auto block = static_cast<std::uint64_t>(-(event + 1)); // the negative of INT64_MIN is none
    if (event >= 0 || block >= blocks_.size() || blocks_[block] < 0)
      throw input_error(fmt::format("events frees block {}, which is not allocated", event));
    trace_.events.push_back(
        {static_cast<std::uint32_t>(block), false, phase_, static_cast<std::uint64_t>(blocks_[block])});
    in_use_ -= blocks_[block];
    blocks_[block] = freed;
  }

  void free_from_before(std::int64_t bytes) {
    const std::int64_t taken = std::min(bytes, std::max<std::int64_t>(in_use_, 0));
    trace_.events.push_back({telemetry::block_from_before, false, phase_, static_cast<std::uint64_t>(taken)});
    in_use_ -= taken;
  }

  static constexpr std::int64_t freed = -1;

  telemetry::Trace& trace_;
  std::vector<std::int64_t> blocks_; ///< counted bytes of each; `freed`
  Phase phase_ = Phase::batch;
  std::int64_t in_use_;
};

} // namespace

telemetry::Trace trace_from(const Fields& fields) {
  telemetry::Trace trace;
  trace.batch = fields.integer("batch", 1);
  trace.granularity = static_cast<std::uint64_t>(fields.optional_integer("granularity", 1).value_or(1));
  if (trace.granularity > static_cast<std::uint64_t>(largest_block))
    throw input_error("granularity is larger than any block");
  trace.start_bytes =
      static_cast<std::uint64_t>(std::min(fields.optional_integer("start_bytes", 0).value_or(0), largest_block));
  if (const Json* by = fields.object("start_by"))
    for (int use = 0; use < telemetry::use_count; ++use)
      if (const auto found = by->find(telemetry::to_string(static_cast<telemetry::Use>(use))); found != by->end())
        trace.start_bytes_by[static_cast<std::size_t>(use)] =
            static_cast<std::uint64_t>(integer_in(*found, "start_by", 0));
  const Json* events = fields.array("events");
  if (!events)
    throw input_error("no `events`");
  const Json none = Json::array();
  const Json* phases = fields.array("phases");
  const Json& marks = phases ? *phases : none;
  auto mark = marks.begin();
  Replay replay(trace);
  for (std::size_t i = 0; i < events->size(); ++i) {
    for (; mark != marks.end(); ++mark) {
      if (!mark->is_array() || mark->size() < 2 || !(*mark)[1].is_string())
        throw input_error("phases: accepted: [index, name]");
      if (static_cast<std::size_t>(integer_in((*mark)[0], "phases", 0)) > i)
        break;
      replay.set_phase(phase_named((*mark)[1].get<std::string>()));
    }
    replay.add((*events)[i]);
  }
  return trace;
}

} // namespace batchscope::program
