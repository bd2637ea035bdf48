#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/store/run_store.h"

namespace batchscope::exchange::detail {

/// Builds a run from the points of another program's file.
class ImportedRun {
public:
  /// `from` is the importer's name. `identity`: what stays the same whenever this run is read, also after it has grown.
  ImportedRun(const std::string& from, const std::filesystem::path& file, std::string_view identity);

  void set_name(const std::string& name) { run_.name = name; }
  void set_started(double unix_seconds);
  void set_setting(const std::string& key, const Json& value) { settings_[key] = value; }
  /// Points may come in any order; of several at one step the last one counts.
  void add(const std::string& series, std::int64_t step, double value) { series_[series][step] = value; }
  bool empty() const { return series_.empty(); }

  /// The finished run: its outcome follows from its series.
  store::CompleteRun finish();

private:
  store::CompleteRun run_;
  Json settings_ = Json::object();
  std::map<std::string, std::map<std::int64_t, double>> series_;
};

/// 32 hexadecimal digits that depend on all of the text.
std::string digest(std::string_view text);
/// The first bytes of a file; empty if it cannot be read.
std::string first_bytes(const std::filesystem::path& file, std::size_t count);

} // namespace batchscope::exchange::detail
