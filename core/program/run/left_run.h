#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/program/protocol/wire.h"
#include "core/program/run/program_source.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/schedule/plan.h"
#include "core/telemetry/outcome.h"
#include "core/telemetry/record.h"

namespace batchscope::program {

/// Stored state of a run whose BatchScope was killed, so that another one can go on with it. Fed with all its records
/// and events in their order. A plain value.
class LeftRun {
public:
  void take(const telemetry::StepRecord& record) { progress.take(record); }
  void take(const telemetry::Event& event);

  telemetry::RunProgress progress;
  std::int64_t pid = 0;                  ///< of the program that said hello; 0: none had
  std::int64_t seq = 0;                  ///< the messages of that program are stored at least up to here
  std::int64_t events = 0;               ///< stored, without those that only carry values
  std::vector<schedule::PlanEdit> edits; ///< that were applied
  std::optional<std::uint64_t> budget;   ///< the last one that was set while it ran
  bool paused = false;
  std::map<std::string, std::int64_t> last_steps; ///< of the series that are not of the records
  std::optional<Bye> bye;                         ///< it has said how it ended
  /// How the program had ended, and what that means for the run, whose outcome was not stored any more.
  struct End {
    Exit exit;
    telemetry::RunStatus status = telemetry::RunStatus::failed;
    telemetry::Reason reason;
  };
  std::optional<End> end;
};

/// A program that was left, to be stored as the run that it is: run() opens its socket again and takes in what it has
/// spilled, follows it until it has ended, or, if it has ended already, only reads how. Its set_place() must be called.
std::unique_ptr<ProgramRun> adopt_program(const run::RunSpec& spec, const run::RunStart& start, const LeftRun& left);

/// Whether the program of a run in this database still lives.
bool program_lives(const std::filesystem::path& database, const std::string& uid);
/// Whether the run has left anything that is to be taken in, its program or a file of it.
bool is_left(const std::filesystem::path& database, const std::string& uid);
/// The runs, by their uids, that have left something to be taken in or tidied: their programs or files of them.
std::vector<std::string> left_runs(const std::filesystem::path& database);
/// Removes what a run has kept to be taken up after a kill; for one whose outcome is stored.
void tidy_stored(const std::filesystem::path& database, const std::string& uid);

} // namespace batchscope::program
