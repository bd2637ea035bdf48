#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/exchange/detail/csv_table.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/import.h"
#include "core/store/run_store.h"

namespace batchscope::exchange {

namespace {

namespace fs = std::filesystem;

/// Names of the numbers of a row and their values; those of objects in it as `outer/inner`.
std::vector<std::pair<std::string, double>> numbers_of(const Json& row, const std::string& prefix = {}) {
  std::vector<std::pair<std::string, double>> numbers;
  for (const auto& [key, value] : row.items()) {
    if (value.is_object()) {
      const auto inner = numbers_of(value, prefix + key + '/');
      numbers.insert(numbers.end(), inner.begin(), inner.end());
    } else if (const auto number = optional_number_from_json(value); number && !value.is_boolean()) {
      numbers.emplace_back(prefix + key, *number);
    }
  }
  return numbers;
}

/// The column that counts steps, in a row; empty if none does.
std::string step_of(const std::vector<std::pair<std::string, double>>& numbers, const ImportOptions& options) {
  std::vector<std::string> columns;
  for (const auto& [name, value] : numbers) {
    if (const auto given = options.names.find(name); given != options.names.end() && given->second == "step")
      return name;
    columns.push_back(name);
  }
  for (const std::string& counted : {std::string("_step"), std::string("epoch")})
    if (!detail::step_column_in(columns) && std::find(columns.begin(), columns.end(), counted) != columns.end())
      return counted;
  const auto step = detail::step_column_in(columns);
  return step ? columns[*step] : std::string();
}

/// Lines of a file, each once, without what ends it.
class Lines {
public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool next(std::string_view& line) {
    if (rest_.empty())
      return false;
    const std::size_t end = rest_.find('\n');
    line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    if (line.ends_with('\r'))
      line.remove_suffix(1);
    ++number_;
    return true;
  }
  std::int64_t number() const { return number_; }

private:
  std::string_view rest_;
  std::int64_t number_ = 0;
};

class JsonlImporter final : public Importer {
public:
  std::string name() const override { return "jsonl"; }
  std::string title() const override { return "JSON lines (.jsonl, .ndjson), an object with its step in each"; }

  bool accepts(const fs::path& path) const override {
    return path.extension() == ".jsonl" || path.extension() == ".ndjson";
  }

  std::vector<ImportColumn> columns(const fs::path& path) const override {
    std::vector<ImportColumn> columns;
    std::set<std::string> known;
    const std::string text = detail::text_of(path);
    Lines lines(detail::without_mark(text));
    for (std::string_view line; lines.next(line);) {
      const auto numbers = numbers_of(object_in(line));
      const std::string step = step_of(numbers, {});
      for (const auto& [name, value] : numbers)
        if (known.insert(name).second)
          columns.push_back({name, name == step ? "step" : detail::series_name(name, {})});
    }
    return columns;
  }

  ImportedRuns read(const fs::path& path, const ImportOptions& options) const override {
    const std::string bytes = detail::text_of(path);
    const std::string_view all = detail::without_mark(bytes);
    Lines lines(options.partial ? detail::whole_rows(all) : all);
    detail::ImportedRun run(name(), path, path.stem().string(), store::CompleteRun::Update::extend);
    run.set_name(path.stem().string());
    ImportedRuns read;
    std::int64_t damaged = 0, first_damaged = 0, without_step = 0;
    for (std::string_view line; lines.next(line);) {
      if (line.find_first_not_of(" \t") == std::string_view::npos)
        continue;
      const Json row = object_in(line);
      if (!row.is_object()) {
        first_damaged = damaged++ == 0 ? lines.number() : first_damaged;
        continue;
      }
      const auto numbers = numbers_of(row);
      const std::string step = step_of(numbers, options);
      without_step += step.empty() ? 1 : 0;
      add_row(run, numbers, step, options);
    }
    if (run.empty() && without_step > 0)
      throw input_error("no number counts the steps; accepted: one named step, iter or epoch in each line, or one that "
                        "becomes it (--map NAME=step)");
    if (run.empty() && damaged > 0)
      throw input_error(fmt::format("line {}: no JSON object; accepted: one in each line", first_damaged));
    if (damaged > 0)
      read.remarks.push_back(fmt::format("{}: lines without a JSON object were left out: {}, the first is line {}",
                                         path.string(), damaged, first_damaged));
    if (!run.empty())
      read.runs.push_back(run.finish(options));
    return read;
  }

private:
  /// Null for a line without one.
  static Json object_in(std::string_view line) {
    Json row = detail::read_python_json(line);
    return row.is_object() ? row : Json();
  }

  static void add_row(detail::ImportedRun& run, const std::vector<std::pair<std::string, double>>& numbers,
                      const std::string& step, const ImportOptions& options) {
    const auto counted =
        std::find_if(numbers.begin(), numbers.end(), [&step](const auto& number) { return number.first == step; });
    constexpr double most = 9e15; // integers are exact up to here
    if (counted == numbers.end() || !(counted->second >= 0 && counted->second <= most))
      return;
    const auto at = static_cast<std::int64_t>(counted->second);
    for (const auto& [name, value] : numbers)
      if (name != step)
        run.add(detail::series_name(name, options), at, value);
  }
};

} // namespace

std::unique_ptr<Importer> jsonl_importer();
std::unique_ptr<Importer> jsonl_importer() {
  return std::make_unique<JsonlImporter>();
}

} // namespace batchscope::exchange
