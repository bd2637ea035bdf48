#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/telemetry/outcome.h"

// Contents of a database, as values.
namespace batchscope::store {

/// Settings of a run that lists show, as far as its spec has them. `model`: of the user's own program, its command.
struct RunSettings {
  std::optional<std::string> model, data, schedule, optimizer, device;
  /// With the optimizer's default filled in; nothing for a run with that default which an earlier version stored.
  std::optional<double> learning_rate;
  std::optional<std::int64_t> seed;
  bool program = false; ///< a training program of the user's own, whose command is `model`
};

/// A value of a list that a run may lack, and that is a number in some runs and a text in others.
using ListValue = std::variant<std::monostate, std::int64_t, double, std::string>;

/// One row of the run table.
struct RunRow {
  std::int64_t id = 0;
  std::string uid; ///< 32 hexadecimal digits; the same in every database that holds a copy of the run
  std::string name;
  std::string started; ///< UTC, ISO 8601
  std::optional<std::int64_t> sweep;
  std::string note;              ///< the user's; empty for none
  std::vector<std::string> tags; ///< the user's, in ascending order, each once
  std::int64_t workers = 1;      ///< most runs of its sweep that trained at one time, this one included
  RunSettings settings;
  telemetry::RunOutcome outcome; ///< of a running or interrupted run: as stored so far
  std::vector<ListValue> more{}; ///< what a list has read besides; RunList::columns know it
};

struct Point {
  std::int64_t step = 0;
  double value = 0;
};

using PointVisitor = std::function<void(const Point&)>;

/// Summary of a series, known without reading its points.
struct SeriesSummary {
  std::string name;
  std::int64_t count = 0;
  std::int64_t last_step = 0;
  double last = 0;
  double min = 0; ///< NaN ignored, as in max; NaN if there is no other value
  double max = 0;
};

/// A search as it was stored.
struct StoredSearch {
  std::int64_t id = 0;
  std::string created;     ///< UTC, ISO 8601
  std::string spec_json;   ///< the run spec that was searched
  std::string result_json; ///< answer and probes
};

/// An arrangement of runs that the user has saved under a name.
struct SavedView {
  std::string name;
  std::string created;      ///< UTC, ISO 8601
  std::string content_json; ///< of the program that shows it; any JSON

  bool operator==(const SavedView&) const = default;
};

/// A sweep as it was stored.
struct StoredSweep {
  std::int64_t id = 0;
  std::string created;   ///< UTC, ISO 8601
  std::string spec_json; ///< see sweep::SweepSpec
};

/// Whether a text can be a tag: one line without spaces at its ends, and not a whole number, which names a run.
bool is_tag(const std::string& text);

} // namespace batchscope::store
