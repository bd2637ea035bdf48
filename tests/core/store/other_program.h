#pragma once

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "core/store/file/detail/database_files.h"
#include "core/store/run_reader.h"
#include "second_process.h"
#include "store_test.h"

// A second program on the same database: this test's own executable, started with other arguments.
namespace batchscope::store::test {

/// The points that a record makes.
inline std::int64_t series_of_a_record() {
  return static_cast<std::int64_t>(telemetry::step_series().size());
}

/// Stores runs of `steps` steps and says of each in `report` that it was stored, with its uid and steps.
inline int write_runs(const std::filesystem::path& file, int runs, std::int64_t steps,
                      const std::filesystem::path& report) {
  RunStore store(file, {.interval = std::chrono::milliseconds(5)});
  for (int i = 0; i < runs; ++i) {
    auto run = store.begin(new_run("other"));
    for (std::int64_t step = 1; step <= steps; ++step) {
      run->sink().record(record_at(step));
      if (step % 100 == 0)
        store.flush();
    }
    run->finish(outcome(telemetry::RunStatus::finished));
    const std::string line = RunReader(file).run(run->id()).uid + ' ' + std::to_string(steps) + '\n';
    std::ofstream(report, std::ios::app) << line;
  }
  return 0;
}

constexpr int failed = 100; ///< its exit status where it could not do it

/// What the program does where it is started as the other one; -1 where it is the test.
inline int run_as_other_program(int count, char** arguments) {
  const std::string verb = count > 1 ? arguments[1] : "";
  try {
    if (verb == "--list" && count == 3)
      return static_cast<int>(RunReader(arguments[2]).list().size());
    if (verb == "--write" && count == 6)
      return write_runs(arguments[2], std::atoi(arguments[3]), std::atoll(arguments[4]), arguments[5]);
  } catch (const Error&) {
    return failed;
  }
  return -1;
}

inline int list_elsewhere(const std::filesystem::path& file) {
  return SecondProcess({"--list", file.string()}).wait();
}

inline std::vector<std::string> write_arguments(const std::filesystem::path& file, int runs, std::int64_t steps,
                                                const std::filesystem::path& report) {
  return {"--write", file.string(), std::to_string(runs), std::to_string(steps), report.string()};
}

/// The steps of each run that was reported as stored, by uid. A line that a killed program did not end does not count.
inline std::map<std::string, std::int64_t> reported(const std::filesystem::path& report) {
  std::map<std::string, std::int64_t> runs;
  std::ifstream stream(report);
  std::string line;
  while (std::getline(stream, line) && !stream.eof()) {
    const auto space = line.find(' ');
    runs[line.substr(0, space)] = std::atoll(line.c_str() + space);
  }
  return runs;
}

inline std::string text_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines)
    text += line + '\n';
  return text;
}

/// What is not in the database as it was reported, one line each, and what its check finds.
inline std::string lost(const std::filesystem::path& file, const std::map<std::string, std::int64_t>& stored) {
  const RunReader reader(file);
  std::map<std::string, std::int64_t> present;
  for (const RunRow& run : reader.list())
    present[run.uid] =
        reader.series_names(run.id).empty() ? 0 : static_cast<std::int64_t>(reader.series(run.id, "loss").size());
  std::vector<std::string> lines = reader.check();
  for (const auto& [uid, steps] : stored)
    if (!present.contains(uid))
      lines.push_back("run " + uid + " is missing");
    else if (present[uid] < steps)
      lines.push_back("run " + uid + " has " + std::to_string(present[uid]) + " of " + std::to_string(steps) +
                      " steps");
  return text_of(lines);
}

using detail::index_of;
using detail::log_of;
inline std::filesystem::path ledger_of(std::filesystem::path database) {
  return database += "-ledger";
}

/// Opens a file and closes it again, as something that guesses its type does. POSIX drops all locks that this process
/// has on it.
inline void open_and_close(const std::filesystem::path& file) {
  const std::ifstream stream(file);
}

} // namespace batchscope::store::test
