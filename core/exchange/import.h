#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/exchange/follow.h"
#include "core/store/run_store.h"

namespace batchscope::exchange {

/// Contents of one or more files.
struct ImportedRuns {
  std::vector<store::CompleteRun> runs; ///< `sweep` is an index into `sweeps`
  std::vector<std::string> sweeps;      ///< their specs, as JSON
  std::vector<std::string> remarks;     ///< what was left out of sound files, a line each that names the file

  void add(ImportedRuns others);
};

struct ImportOptions {
  /// Names of series by the names in the file, in place of the importer's own. For tables also: `step` for the column
  /// that counts the steps. An empty name leaves the column out.
  std::map<std::string, std::string> names;
  /// The file is still being written: it may end in the middle of a record, or have no values yet.
  bool partial = false;
  /// Runs are still being made, unless the file says that they have ended.
  bool running = false;
};

/// A column of a table, and the series that it becomes.
struct ImportColumn {
  std::string name;
  std::string series; ///< without ImportOptions::names
};

/// A format of runs made elsewhere. A new one is a file with a class and its name_importer(), and a line in
/// importers.def.
class Importer {
public:
  virtual ~Importer() = default;
  virtual std::string name() const = 0;  ///< `tensorboard`; a setting of its runs, `imported_from`
  virtual std::string title() const = 0; ///< for messages: `TensorBoard event files`
  /// Whether the file or folder looks like this format, from its name or its first bytes. Never throws.
  virtual bool accepts(const std::filesystem::path& path) const = 0;
  /// Columns of the file, for formats whose columns can be mapped with ImportOptions::names. Throws as read() does.
  virtual std::vector<ImportColumn> columns(const std::filesystem::path& /*path*/) const { return {}; }
  /// Returns no runs for a sound file without values. Throws Error (input) naming what is wrong and where.
  virtual ImportedRuns read(const std::filesystem::path& path, const ImportOptions& options) const = 0;
  /// Reads the points of a file or folder while it grows. The importer must live longer. Files of a format that are
  /// only appended to are read from where they ended; all others are read as a whole when they have changed.
  virtual std::unique_ptr<SeriesFollower> follow(const std::filesystem::path& path) const;
};

/// All formats, in the order in which they are tried.
std::vector<std::unique_ptr<Importer>> importers();

struct ImportResult {
  std::vector<std::int64_t> imported;
  std::vector<std::int64_t> known;    ///< runs that were there before
  std::vector<std::int64_t> extended; ///< those of them that have grown since they were imported
};

/// The first importer that accepts the file or folder. Throws Error (input) naming the file.
std::unique_ptr<Importer> importer_of(const std::filesystem::path& path);
/// Reads the file or folder with importer_of(). Throws Error (input) naming the file, also if it has no values, unless
/// it may be partial.
ImportedRuns read_runs_of(const std::filesystem::path& path, const ImportOptions& options = {});
/// Stores what was read, in one transaction. Runs that are there are left as they are or, where their file has grown,
/// extended. Throws what the store throws.
ImportResult store_runs(const ImportedRuns& read, store::RunStore& store);

} // namespace batchscope::exchange
