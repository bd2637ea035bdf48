#include <algorithm>
#include <cmath>
#include <optional>
#include <ostream>
#include <set>

#include "core/exchange/detail/number_text.h"
#include "core/exchange/export.h"
#include "core/store/run_reader.h"
#include "core/telemetry/record.h"
#include "core/telemetry/series_info.h"

namespace batchscope::exchange::detail {

namespace {

/// A series and its current point.
struct Cursor {
  std::vector<store::Point> points;
  std::size_t at = 0;
  bool nan_is_unknown = false;

  bool done() const { return at == points.size(); }
};

/// The known series that a CSV has in any case, then those that only these runs have.
std::vector<std::string> columns_of(const store::RunReader& reader, const std::vector<std::int64_t>& ids) {
  std::vector<std::string> columns;
  for (const telemetry::SeriesInfo& series : telemetry::known_series())
    if (series.in_csv)
      columns.push_back(series.name);
  std::set<std::string> others;
  for (const std::int64_t id : std::set(ids.begin(), ids.end()))
    for (const std::string& name : reader.series_names(id))
      if (!telemetry::is_known_series(name))
        others.insert(name);
  columns.insert(columns.end(), others.begin(), others.end());
  return columns;
}

class CsvExporter final : public Exporter {
public:
  std::string name() const override { return "csv"; }
  std::string title() const override { return "CSV, a row per step"; }
  std::string extension() const override { return "csv"; }

  void write(const store::RunReader& reader, const std::vector<std::int64_t>& ids, std::ostream& out) const override {
    const auto columns = columns_of(reader, ids);
    out << "run,step";
    for (const std::string& column : columns)
      out << ',' << csv_cell(column);
    out << '\n';
    for (const std::int64_t id : ids)
      write_run(reader, id, columns, out);
  }

private:
  // From one snapshot: a running run has more points of one series than of the one read before.
  static std::vector<Cursor> read(const store::RunReader& reader, std::int64_t id,
                                  const std::vector<std::string>& columns) {
    std::vector<Cursor> cursors;
    reader.at_one_moment([&] {
      const auto names = reader.series_names(id);
      for (const std::string& column : columns) {
        const bool known = std::find(names.begin(), names.end(), column) != names.end();
        cursors.push_back({.points = known ? reader.series(id, column) : std::vector<store::Point>{},
                           .at = 0,
                           .nan_is_unknown = telemetry::nan_is_unknown(column)});
      }
    });
    return cursors;
  }

  // The engine's series all have the same steps; those of other programs may skip some.
  static std::optional<std::int64_t> next_step(const std::vector<Cursor>& cursors) {
    std::optional<std::int64_t> next;
    for (const Cursor& cursor : cursors)
      if (!cursor.done())
        next = std::min(next.value_or(cursor.points[cursor.at].step), cursor.points[cursor.at].step);
    return next;
  }

  static void write_run(const store::RunReader& reader, std::int64_t id, const std::vector<std::string>& columns,
                        std::ostream& out) {
    std::vector<Cursor> cursors = read(reader, id, columns);
    const std::string run = std::to_string(id);
    std::string line;
    while (const auto step = next_step(cursors)) {
      line = run + ',' + std::to_string(*step);
      for (Cursor& cursor : cursors) {
        line += ',';
        if (cursor.done() || cursor.points[cursor.at].step != *step)
          continue;
        const double value = cursor.points[cursor.at++].value;
        if (!cursor.nan_is_unknown || !std::isnan(value))
          append_number(line, value);
      }
      line += '\n';
      out << line;
    }
  }
};

} // namespace

} // namespace batchscope::exchange::detail

namespace batchscope::exchange {

std::unique_ptr<Exporter> csv_exporter();
/// One row per step; a cell is empty if the run has no value for it.
std::unique_ptr<Exporter> csv_exporter() {
  return std::make_unique<detail::CsvExporter>();
}

} // namespace batchscope::exchange
