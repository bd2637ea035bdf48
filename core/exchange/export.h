#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "core/store/run_reader.h"

namespace batchscope::exchange {

/// A file format for exporting runs. A new one is a file with a class and its name_exporter(), and a line in
/// exporters.def.
class Exporter {
public:
  virtual ~Exporter() = default;
  virtual std::string name() const = 0;      ///< value of --format
  virtual std::string title() const = 0;     ///< for menus: `CSV, a row per step`
  virtual std::string extension() const = 0; ///< of its files, without the dot; empty for a format that is a folder
  /// Writes the runs in the order given. Throws Error (input) for a run that does not exist. Not of folders.
  virtual void write(const store::RunReader& /*reader*/, const std::vector<std::int64_t>& /*ids*/,
                     std::ostream& /*out*/) const {}
  /// Writes into an empty folder. Only of formats that are a folder.
  virtual void write_folder(const store::RunReader& /*reader*/, const std::vector<std::int64_t>& /*ids*/,
                            const std::filesystem::path& /*folder*/) const {}
};

/// All formats.
std::vector<std::unique_ptr<Exporter>> exporters();
std::vector<std::string> export_formats();
/// Throws Error (input) for an unknown format.
std::unique_ptr<Exporter> make_exporter(const std::string& format);

/// Writes to a temporary name beside `file`, then renames, so that `file` is complete or unchanged. A folder that
/// exists is never overwritten, also not with `force`: it may hold what others made. Throws Error: input for an unknown
/// format, no runs, a run that does not exist, a folder that is missing or not writable, a folder at the file's path,
/// or an existing file (unless `force`); failed if writing fails, or if `cancelled`, called periodically, returns true.
/// Leaves nothing behind on errors.
void export_to_file(const store::RunReader& reader, const std::vector<std::int64_t>& ids, const std::string& format,
                    const std::filesystem::path& file, bool force, const std::function<bool()>& cancelled = {});

} // namespace batchscope::exchange
