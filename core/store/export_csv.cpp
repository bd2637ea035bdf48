#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <ostream>
#include <string_view>

#include "core/store/detail/exporters.h"

namespace batchscope::store::detail {

namespace {

constexpr std::array columns = {"examples_seen",   "epoch",          "train_coverage", "batch",     "accumulate",
                                "effective_batch", "loss",           "learning_rate",  "grad_norm", "seconds",
                                "allocated_bytes", "reserved_bytes", "peak_bytes"};

/// A series and its current point.
struct Cursor {
  std::vector<Point> points;
  std::size_t at = 0;

  bool done() const { return at == points.size(); }
};

class CsvExporter final : public Exporter {
public:
  std::string name() const override { return "csv"; }

  void write(const RunReader& reader, const std::vector<std::int64_t>& ids, std::ostream& out) const override {
    out << "run,step";
    for (const char* column : columns)
      out << ',' << column;
    out << '\n';
    for (const std::int64_t id : ids)
      write_run(reader, id, out);
  }

private:
  // From one snapshot: a running run has more points of one series than of the one read before.
  static std::vector<Cursor> read(const RunReader& reader, std::int64_t id) {
    std::vector<Cursor> cursors;
    reader.at_one_moment([&] {
      const auto names = reader.series_names(id);
      for (const char* column : columns) {
        const bool known = std::find(names.begin(), names.end(), column) != names.end();
        cursors.push_back({.points = known ? reader.series(id, column) : std::vector<Point>{}, .at = 0});
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

  static void write_run(const RunReader& reader, std::int64_t id, std::ostream& out) {
    std::vector<Cursor> cursors = read(reader, id);
    const std::string run = std::to_string(id);
    std::string line;
    while (const auto step = next_step(cursors)) {
      line = run + ',' + std::to_string(*step);
      for (Cursor& cursor : cursors) {
        line += ',';
        if (!cursor.done() && cursor.points[cursor.at].step == *step)
          append_number(line, cursor.points[cursor.at++].value);
      }
      line += '\n';
      out << line;
    }
  }
};

} // namespace

void append_number(std::string& text, double value) {
  if (std::isnan(value)) {
    text += "NaN";
    return;
  }
  if (std::isinf(value)) {
    text += value > 0 ? "Infinity" : "-Infinity";
    return;
  }
  // Large enough for every double in its shortest form, and for all integers that doubles represent exactly.
  std::array<char, 32> digits;
  constexpr double exact = 9007199254740992; // 2^53
  const bool integer = std::trunc(value) == value && std::abs(value) <= exact && (value != 0 || !std::signbit(value));
  const auto end = integer ? std::to_chars(digits.begin(), digits.end(), static_cast<std::int64_t>(value)).ptr
                           : std::to_chars(digits.begin(), digits.end(), value).ptr;
  text.append(digits.begin(), end);
}

std::unique_ptr<Exporter> csv_exporter() {
  return std::make_unique<CsvExporter>();
}

} // namespace batchscope::store::detail
