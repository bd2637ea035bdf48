#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/telemetry/record.h"
#include "core/telemetry/trace.h"

// The line protocol between BatchScope and a training program, version 1: one JSON object a line, UTF-8, LF. Bytes,
// seconds and examples are the units. NaN and infinities are the strings "NaN", "Infinity" and "-Infinity".
namespace batchscope::program {

inline constexpr std::int64_t protocol_version = 1;
inline constexpr std::size_t longest_line = 16U << 20U; ///< bytes, without the LF

// --- from the program ---

/// Identity, settings and abilities of the program. Sent on every connection, and again when they have changed.
struct Hello {
  std::int64_t protocol = 0;
  std::string client;
  std::int64_t pid = 0;
  std::int64_t rank = 0;
  std::int64_t world = 1;
  std::string run;       ///< uid from its environment; empty: none
  std::int64_t step = 0; ///< steps done
  std::string framework, torch, device, device_name;
  std::optional<std::int64_t> device_bytes;
  std::optional<std::int64_t> examples; ///< N
  std::optional<std::int64_t> batch, accumulate;
  std::optional<double> epochs; ///< may be a fraction
  std::optional<std::int64_t> steps;
  bool drop_last = false;
  std::optional<std::int64_t> parameters;
  bool batch_norm = false;
  std::string name;
  std::string config_json = "{}";
  std::string settings_json = "{}"; ///< what the training is made with: texts, numbers and truth values by name
  /// report pause stop batch accumulate rate split trace estimate evaluate, and `first batch`
  std::set<std::string> can;
};

/// Level of the program (docs/glossary.md): 1 it reports, 2 its batch size can change, 3 it also splits a step that
/// runs out of memory.
int level_of(const Hello& hello);
/// Whether a batch size that comes with the answer to its hello holds, if not for ever: a program of level 1 may take
/// its first one.
bool takes_first_batch(const Hello& hello);

struct StepMessage {
  std::int64_t seq = 0;
  telemetry::StepRecord record;
  std::vector<std::int64_t> takes; ///< examples of each micro batch; empty if the program does not say
  bool ask = false;                ///< it waits for a `next`
};

struct EventMessage {
  std::int64_t seq = 0;
  telemetry::Event event; ///< its `message` is the same number
};

/// The answer to an edit.
struct Applied {
  std::int64_t seq = 0;
  std::int64_t id = 0;   ///< of the edit
  std::int64_t step = 0; ///< after which it holds
  std::optional<std::int64_t> batch, accumulate;
  std::optional<double> rate_factor;
  std::optional<std::uint64_t> limit_bytes;
};

struct TraceMessage {
  std::int64_t seq = 0;
  telemetry::Trace trace;
};

/// The peaks of steps that were not run.
struct EstimateMessage {
  struct Point {
    std::int64_t batch = 0;
    std::uint64_t peak_bytes = 0;
    std::vector<std::pair<std::string, std::uint64_t>> by; ///< bytes by use, as the program names them
  };
  std::int64_t seq = 0;
  std::string method;
  std::vector<Point> curve;
  std::string error; ///< why there is no curve; empty if there is one
};

/// Messages that the program could not send are in its spill file.
struct Spilled {
  std::int64_t first = 0, last = 0;
};

struct Bye {
  std::int64_t seq = 0;
  std::string status; ///< finished, stopped or failed
  std::string reason;
};

/// A type that this version does not know, which is ignored.
struct UnknownMessage {
  std::int64_t seq = 0; ///< 0: it has none
};

using Message = std::variant<UnknownMessage, Hello, StepMessage, EventMessage, Applied, TraceMessage, EstimateMessage,
                             Spilled, Bye>;

/// Reads one line without its LF. Unknown fields and types are ignored; values that are missing in a record are not
/// known there. Throws Error (input) saying what is wrong for a line that is no message, and for a known field of a
/// wrong type. Takes time in proportion to the line.
Message parse(std::string_view line);

/// The message's number, from 1; 0 if it has none.
std::int64_t seq_of(const Message& message);

// --- to the program; each returns a line with its LF ---

struct Welcome {
  std::string run; ///< uid
  std::int64_t number = 0;
  std::optional<std::int64_t> batch, accumulate; ///< nothing: its own
  std::optional<double> rate_factor;
  std::optional<std::uint64_t> limit_bytes;
  std::string on_oom = "shrink";
  std::int64_t step = 0; ///< the first one that it is about; the program may have made some more when it reads this
  std::int64_t hold = 0; ///< steps from `step` on that need no asking; 0: none does
};
std::string to_line(const Welcome& welcome);

/// The size from a step on.
struct Next {
  std::int64_t step = 0;
  std::int64_t batch = 0, accumulate = 0;
  double rate_factor = 1;
  std::int64_t hold = 0; ///< as in Welcome, from `step` on
};
std::string to_line(const Next& next);

/// Changes from the program's next step boundary on.
struct Edit {
  std::int64_t id = 0;
  std::optional<std::int64_t> batch, accumulate;
  std::optional<double> rate_factor;
  std::optional<std::int64_t> hold;
  std::optional<std::uint64_t> limit_bytes;
};
std::string to_line(const Edit& edit);

enum class Order { pause, resume, step };
std::string to_line(Order order);
/// `save`: a checkpoint first.
std::string stop_line(bool save);
/// Everything up to `seq` is in the database.
std::string stored_line(std::int64_t seq);
std::string refuse_line(const std::string& reason);

/// A size to try, in a program that lists the allocations of its steps.
struct ProbeSize {
  std::int64_t batch = 1;
  bool trace = false; ///< of the last step
  std::int64_t steps = 1;
  bool set = true;                          ///< else the program has this size by its command
  bool timing = false;                      ///< without a limit, which does not come back
  std::optional<std::int64_t> evaluation{}; ///< after the steps, an evaluation batch of so many examples
};
std::string probe_line(const std::vector<ProbeSize>& sizes, bool then_stop);
std::string estimate_line(const std::vector<std::int64_t>& batches);

} // namespace batchscope::program
