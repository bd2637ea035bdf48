#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/telemetry/reason.h"

// Events of any run.
namespace batchscope::telemetry {

/// Nothing has happened: the event only carries values, which become points of series.
struct ValuesOnly {
  bool operator==(const ValuesOnly&) const = default;
};

/// Scores on the validation examples. They may be NaN or infinite.
struct Evaluation {
  std::optional<double> loss{};
  std::optional<double> accuracy{}; ///< 0..1
  bool operator==(const Evaluation&) const = default;
};

struct StatusChange {
  enum class Status { running, paused, queued, finished, stopped, failed, interrupted };
  Status status = Status::running; ///< running: goes on after a pause
  std::string text{};              ///< of a program's own; empty: nothing more is said
  std::string at{};                ///< UTC, ISO 8601; empty: not known
  bool operator==(const StatusChange&) const = default;
};

/// A checkpoint was written, or could not be.
struct CheckpointWritten {
  std::optional<std::uint64_t> bytes{};
  std::optional<double> copy_seconds{};  ///< while training stood still
  std::optional<double> write_seconds{}; ///< beside the training
  std::string error{};                   ///< why it was not written; empty: it was
  bool operator==(const CheckpointWritten&) const = default;
};

/// The weights were written at the end of a run.
struct WeightsWritten {
  std::string file{};
  std::optional<std::uint64_t> bytes{};
  bool operator==(const WeightsWritten&) const = default;
};

/// The run goes on from a checkpoint.
struct Resumed {
  std::optional<std::int64_t> from_step{};      ///< of the checkpoint
  std::optional<std::int64_t> replaced_steps{}; ///< after it, which are made again
  std::string at{};                             ///< UTC, ISO 8601
  std::vector<Reason> notes{};                  ///< that the user should know
  bool operator==(const Resumed&) const = default;
};

/// An event of another version, of a program's own kind, or of a known kind whose details cannot be read.
struct UnknownEvent {
  std::string kind{};
  std::string detail_json = "{}"; ///< as it is stored; need not be an object, nor JSON
  bool operator==(const UnknownEvent&) const = default;
};

} // namespace batchscope::telemetry
