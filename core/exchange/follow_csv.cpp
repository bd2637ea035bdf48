#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/exchange/detail/csv_table.h"
#include "core/exchange/detail/imported_run.h"

namespace batchscope::exchange::detail {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_bytes_of_a_poll = 4 << 20;
/// Bytes before the place up to which a table was read; if they differ, the table was written anew.
constexpr std::uint64_t compared_bytes = 256;

std::string bytes_of(const fs::path& file, std::uint64_t from, std::uint64_t count) {
  std::ifstream in = detail::opened(file);
  std::string text(count, '\0');
  in.seekg(static_cast<std::streamoff>(from));
  in.read(text.data(), static_cast<std::streamsize>(count));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

std::int64_t time_of(const fs::path& file) {
  std::error_code ignored;
  return fs::last_write_time(file, ignored).time_since_epoch().count();
}

/// How far a table was read. A plain value.
struct Place {
  std::uint64_t bytes = 0;         ///< up to the end of a row
  std::int64_t lines = 0;          ///< in these bytes
  std::int64_t rows = 0;           ///< of values
  std::string before;              ///< digest of the last of these bytes
  std::string first_row;           ///< digest of CsvTable::identity_of() the first row of values
  std::vector<std::string> header; ///< the last one; empty in positions of earlier versions: the first line
  std::int64_t modified = 0;       ///< when the file was written last
};

template <typename Io> void fields(Io& io, typename Io::template Of<Place>& place) {
  io.required("bytes", place.bytes);
  io.required("lines", place.lines);
  io.required("rows", place.rows);
  io.required("before", place.before);
  io.required("first_row", place.first_row);
  io.required("modified", place.modified);
  io("header", place.header);
}

class TableFollower {
public:
  explicit TableFollower(fs::path file, Place place = {}) : file_(std::move(file)), place_(std::move(place)) {}

  /// As SeriesFollower::poll().
  bool poll(const AddedPointSink& take, bool ended) {
    std::error_code error;
    const std::uint64_t size = fs::file_size(file_, error);
    if (error)
      return false; // taken away, as while it is replaced
    const std::int64_t modified = time_of(file_);
    if (size == place_.bytes && (!ended || modified == place_.modified))
      return false;
    if (!is_continued(size))
      begin_anew(size);
    const bool whole = size - place_.bytes <= most_bytes_of_a_poll;
    const std::string text = bytes_of(file_, place_.bytes, std::min(size - place_.bytes, most_bytes_of_a_poll));
    const std::string_view rows = whole_rows(text);
    if (rows.empty() && !whole)
      throw input_error(
          fmt::format("{}, line {}: longer than {} bytes", file_.string(), place_.lines + 1, most_bytes_of_a_poll));
    take_rows(rows, take);
    place_.modified = modified;
    if (whole && !problem_.empty()) // the sound rows around it are read, and given
      throw input_error(std::exchange(problem_, {}));
    return !whole;
  }

  const Place& place() const { return place_; }

private:
  /// The table has what was read of it, and more rows. One that was written again to the same size has none.
  bool is_continued(std::uint64_t size) const { return size > place_.bytes && digest_before() == place_.before; }

  std::string digest_before() const {
    const std::uint64_t count = std::min(place_.bytes, compared_bytes);
    return count == 0 ? std::string() : digest(bytes_of(file_, place_.bytes - count, count));
  }

  /// A table that got another column is written anew with the rows that it had: those are known.
  void begin_anew(std::uint64_t size) {
    known_rows_ = size > place_.bytes ? place_.rows : 0;
    known_first_row_ = std::move(place_.first_row);
    place_ = {};
    rows_.reset();
  }

  void take_rows(std::string_view text, const AddedPointSink& take) {
    if (text.empty())
      return;
    if (!rows_)
      begin_rows(text);
    data::CsvText csv(place_.bytes == 0 ? without_mark(text) : text, file_.string(), place_.lines + 1,
                      rows_->separator());
    std::vector<AddedPoint> points; // given only once the text is read as a whole: it is then not read again
    Place place = place_;
    while (rows_->next(csv))
      add(place, points);
    if (rows_->damaged() > 0 && problem_.empty())
      problem_ = rows_->first_damage();
    rows_->forget_damage();
    place.bytes += text.size();
    place.lines += std::count(text.begin(), text.end(), '\n');
    if (rows_->has_columns())
      place.header = rows_->table().header();
    place_ = std::move(place);
    place_.before = digest_before();
    for (const AddedPoint& point : points)
      take(point);
  }

  void add(Place& place, std::vector<AddedPoint>& points) {
    const detail::CsvTable& table = rows_->table();
    if (++place.rows == 1) {
      place.first_row = digest(table.identity_of(rows_->row()));
      if (place.first_row != known_first_row_)
        known_rows_ = 0; // of another run
    }
    if (place.rows <= known_rows_)
      return;
    table.values_of(rows_->row(), [&](const std::string& series, double value) {
      if (!series.empty())
        points.push_back({series == table.loss() ? "loss" : series, rows_->step(), value});
    });
  }

  /// `text`: the first that is read.
  void begin_rows(std::string_view text) {
    std::string start;
    if (place_.bytes > 0) // behind the table's first line
      text = start = bytes_of(file_, 0, std::min(place_.bytes, most_bytes_of_a_poll));
    text = without_mark(text);
    rows_.emplace(ImportOptions{}, separator_of(text));
    if (place_.bytes == 0)
      return;
    if (place_.header.empty())
      data::CsvText(text, file_.string(), 1, rows_->separator()).next(place_.header);
    if (!place_.header.empty())
      rows_->set_header(place_.header);
  }

  const fs::path file_;
  Place place_;
  std::optional<CsvRows> rows_;
  std::string problem_;         ///< of a line that was left out, not said yet
  std::int64_t known_rows_ = 0; ///< first ones of a table that was written anew
  std::string known_first_row_;
};

class TablesFollower final : public SeriesFollower {
public:
  explicit TablesFollower(fs::path path) : path_(std::move(path)) {}

  bool poll(const AddedPointSink& take, bool ended) override {
    bool more = false;
    for (const fs::path& table : tables_of(path_))
      more = tables_.try_emplace(table.string(), table).first->second.poll(take, ended) || more;
    return more;
  }

  Json position() const override {
    Json json = Json::object();
    for (const auto& [file, table] : tables_)
      json[file] = json_of_fields(table.place());
    return json;
  }

  void resume(const Json& position) override {
    tables_.clear();
    for (const auto& [file, json] : position.items()) {
      try {
        tables_.try_emplace(file, file, value_of_fields<Place>(json, JsonReader::Mistyped::refused));
      } catch (const Error&) {
        continue; // no position of a table
      }
    }
  }

private:
  const fs::path path_;
  std::map<std::string, TableFollower> tables_; ///< by their files
};

} // namespace

std::unique_ptr<SeriesFollower> follow_tables(const fs::path& path) {
  return std::make_unique<TablesFollower>(path);
}

} // namespace batchscope::exchange::detail
