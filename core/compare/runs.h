#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/store/run_reader.h"

namespace batchscope::compare {

/// A validation of a run: when, and how good it was.
struct Score {
  double seconds = 0; ///< of training until then, without pauses and evaluations
  double value = 0;
};

/// A stored run as a comparison needs it.
struct ComparedRun {
  store::RunRow row;
  /// Its settings, without any for many runs of other programs. The seed is null where a program was given none and did
  /// not say its own.
  Json spec = Json::object();
  std::vector<Score> accuracies;
  std::vector<Score> losses;
};

/// Reads runs in the given order. Throws Error (input) for a run that does not exist.
std::vector<ComparedRun> read_runs(const store::RunReader& reader, const std::vector<std::int64_t>& ids);

/// The value of a setting as text, for display and to compare it: `default` for one that is not set, `-` for one that
/// the run does not have.
std::string setting_text(const ComparedRun& run, const std::string& key);

/// The name of a setting for display: `lr rule`; a placeholder of a program's command by its own name; options of the
/// command as they are.
std::string setting_name(std::string key);

/// Names of all settings, apart from the run's name; those in which the runs differ, in the order of the specs, and
/// the others. What a program said of itself is in neither where it only repeats a differing setting that it was given.
struct Settings {
  std::vector<std::string> differing;
  std::vector<std::string> same;
};

/// Runs with the same settings, apart from the seed and the name.
struct Group {
  std::vector<std::size_t> runs;                           ///< indices, in the order of the runs
  std::vector<std::pair<std::string, std::string>> values; ///< of the settings in which groups differ
  std::optional<std::int64_t> batch;                       ///< first batch of its first run that has one
  std::string label() const; ///< `batch size 64, lr 0.003`, of many settings three; empty if none differs
};

/// Runs that are compared, and what follows from their settings, which takes long for thousands of runs: it is computed
/// once. A plain value.
struct Comparison {
  explicit Comparison(std::vector<ComparedRun> compared);

  std::vector<ComparedRun> runs;
  Settings settings;
  std::vector<Group> groups;         ///< in the order of their first runs
  std::vector<std::size_t> group_of; ///< by run
  /// By run: the same number for repeats that learn the same, those of this program with one seed.
  std::vector<std::size_t> learnt_as;
};

} // namespace batchscope::compare
