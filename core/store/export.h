#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "core/store/run_store.h"

namespace batchscope::store {

/// One file format that runs are exported to. A new one is a class in a file of its own and a line in exporters().
class Exporter {
public:
  virtual ~Exporter() = default;
  virtual std::string name() const = 0; ///< as after --format
  /// Writes the runs in the order given. Throws Error (input) for a run that is not there.
  virtual void write(const RunReader& reader, const std::vector<std::int64_t>& ids, std::ostream& out) const = 0;
};

/// All formats.
std::vector<std::unique_ptr<Exporter>> exporters();
std::vector<std::string> export_formats();

/// Writes to a temporary name beside `file`, then renames, so that `file` is whole or not touched.
/// Throws Error: input for an unknown format, no runs, a run that is not there, a folder that is missing or cannot be
/// written, a folder in the file's place, or a file that exists (unless `force`); failed where the disk refuses,
/// and where `cancelled`, asked now and then, says true. Nothing is left behind then.
void export_to_file(const RunReader& reader, const std::vector<std::int64_t>& ids, const std::string& format,
                    const std::filesystem::path& file, bool force, const std::function<bool()>& cancelled = {});

} // namespace batchscope::store
