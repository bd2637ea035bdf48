#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <QByteArray>

#include "core/base/error.h"
#include "core/exchange/import.h"
#include "core/store/run_store.h"
#include "tests/core/store/store_test.h"

// Functions that the tests of the import share.
namespace batchscope::exchange::test {

/// A file or folder of tests/core/exchange/files: written by the tools themselves or, where make_encoded.py says so, as
/// they would.
inline std::filesystem::path real_file(const char* name) {
  return std::filesystem::path(BATCHSCOPE_SOURCE_DIR) / "tests/core/exchange/files" / name;
}

inline ImportResult import_into(const store::test::Folder& folder, const std::filesystem::path& file,
                                const ImportOptions& options = {}) {
  const ImportedRuns read = read_runs_of(file, options);
  store::RunStore store(folder.file());
  return store_runs(read, store);
}

/// Why the file is not imported; empty if it is.
inline QByteArray refusal(const std::filesystem::path& file) {
  try {
    read_runs_of(file);
  } catch (const Error& error) {
    return error.kind() == Error::Kind::input ? QByteArray(error.what()) : "another kind";
  }
  return {};
}

inline std::filesystem::path written(const store::test::Folder& folder, const std::string& name,
                                     const std::string& text) {
  std::ofstream(folder.file(name), std::ios::binary) << text;
  return folder.file(name);
}

/// Of a run that was read; empty if it has no such series.
inline std::vector<store::Point> points_of(const store::CompleteRun& run, const std::string& series) {
  for (const auto& [name, points] : run.series)
    if (name == series)
      return points;
  return {};
}

} // namespace batchscope::exchange::test
