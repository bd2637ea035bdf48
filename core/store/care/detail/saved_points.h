#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/store/run_row.h"

namespace batchscope::store::detail {

/// The points in a damaged database that are whole, found without its indexes. Throws SQLite::Exception.
class SavedPoints {
public:
  /// Goes through all rows of points once and remembers where those are that match their checksums.
  explicit SavedPoints(SQLite::Database& database);

  struct Series {
    std::string name;
    std::vector<double> values;
    std::vector<bool> there; ///< which of the values could be saved
    std::int64_t stored = 0; ///< points that it had
  };
  /// Series that had the same steps.
  struct SavedFrame {
    std::vector<std::int64_t> steps; ///< those that could be saved
    std::vector<Series> series;      ///< by position; their values belong to `steps`
  };
  /// Frames of a run, of the series whose rows can be read.
  std::vector<SavedFrame> of_run(std::int64_t run) const;
  std::vector<std::int64_t> runs() const; ///< with such series
  /// Data that cannot be recovered, one line each.
  const std::vector<std::string>& lost() const { return lost_; }

private:
  struct SeriesPlace {
    std::int64_t id = 0;
    std::int64_t run = 0;
    std::int64_t frame = 0;
    std::int64_t position = 0;
    std::int64_t stored = 0;
    std::string name;
  };
  using Places = std::map<std::int64_t, std::map<std::int64_t, std::int64_t>>; ///< rowids by parent and first point

  void find_series();
  void find_chunks();
  SavedFrame frame_of(const std::vector<const SeriesPlace*>& series) const;
  void add_chunks(const std::vector<const SeriesPlace*>& series, SavedFrame& frame) const;
  void add_tail(const std::vector<const SeriesPlace*>& series, SavedFrame& frame) const;

  SQLite::Database& database_;
  std::vector<SeriesPlace> series_;
  Places steps_;  ///< by frame
  Places values_; ///< by series
  std::vector<std::string> lost_;
};

} // namespace batchscope::store::detail
