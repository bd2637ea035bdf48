// `csv:`: rows of numeric features with a class or a number as target.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/open_database.h"
#include "core/base/text.h"
#include "core/data/csv_text.h"
#include "core/data/input_file.h"
#include "core/data/sources.h"
#include "core/data/table.h"

namespace batchscope::data {

namespace {

/// A target with more distinct integers than this is a quantity, not a class.
constexpr std::size_t max_number_classes = 20;
/// More distinct texts than this are names or remarks, not classes.
constexpr std::size_t max_text_classes = 1000;

/// How to read a file.
struct CsvOptions {
  bool named = true;  ///< the first line names the columns
  std::string target; ///< a column's name, or its number from 1
};

/// The rows of a file, with targets as in the file.
struct CsvRows {
  Table table;
  std::vector<std::string> targets;
};

/// A finite number; nothing for any other text.
std::optional<double> number_in(std::string_view field) {
  std::string_view text = trimmed(field);
  if (text.starts_with('+'))
    text.remove_prefix(1);
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

bool is_number(const std::string& field) {
  return number_in(field).has_value();
}

/// The columns of a file: by the names in its first line, or else by numbers from 1.
struct Columns {
  bool named = true;
  std::vector<std::string> names;
  std::size_t target = 0;
};

/// Hint for a file without a header line that is read as if it had one.
std::string hint_of_numbers(const std::vector<std::string>& names) {
  if (!std::all_of(names.begin(), names.end(), is_number))
    return {};
  return "; for a file without column names, use header=no and the target's column number";
}

std::size_t column_by_name(const CsvText& csv, const std::vector<std::string>& names, const std::string& target) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (trimmed(names[i]) == target)
      found.push_back(i);
  if (found.empty())
    csv.refuse(fmt::format("no column '{}'; columns are: {}{}", shortened(target),
                           shortened(fmt::format("{}", fmt::join(names, ", "))), hint_of_numbers(names)));
  if (found.size() > 1)
    csv.refuse(fmt::format("{} columns are named '{}'", found.size(), shortened(target)));
  return found.front();
}

std::size_t column_by_number(const CsvText& csv, std::size_t count, const std::string& target) {
  std::size_t number = 0;
  const auto parsed = std::from_chars(target.data(), target.data() + target.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != target.data() + target.size() || number < 1 || number > count)
    csv.refuse(
        fmt::format("target is '{}'; with header=no, accepted: a column number, 1 to {}", shortened(target), count));
  return number - 1;
}

Columns columns_of(const CsvText& csv, const std::vector<std::string>& first, const CsvOptions& options) {
  if (first.size() < 2)
    csv.refuse("no column besides the target");
  Columns columns{options.named, first, 0};
  if (columns.named) {
    columns.target = column_by_name(csv, first, options.target);
    return columns;
  }
  for (std::size_t i = 0; i < first.size(); ++i)
    columns.names[i] = fmt::format("{}", i + 1);
  columns.target = column_by_number(csv, first.size(), options.target);
  return columns;
}

void add_row(CsvRows& rows, const CsvText& csv, const std::vector<std::string>& fields, const Columns& columns) {
  const std::vector<std::string>& names = columns.names;
  if (fields.size() != names.size())
    csv.refuse(fmt::format("{} fields, but the first {} {}{}", fields.size(), columns.named ? "line names" : "row has",
                           names.size(), columns.named ? " columns" : ""));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i == columns.target) {
      rows.targets.emplace_back(trimmed(fields[i]));
      if (rows.targets.back().empty())
        csv.refuse(fmt::format("target column '{}' is empty", shortened(names[i])));
      continue;
    }
    const std::optional<double> value = number_in(fields[i]);
    const auto narrow = static_cast<float>(value.value_or(NAN));
    if (!std::isfinite(narrow))
      csv.refuse(fmt::format("column '{}' is '{}'; features must be finite numbers", shortened(names[i]),
                             shortened(fields[i])));
    rows.table.values.push_back(narrow);
  }
}

CsvRows read_rows(const std::string& path, const CsvOptions& options) {
  const std::string text = read_text_file(path);
  CsvText csv(text, path);
  std::vector<std::string> fields;
  if (!csv.next(fields))
    throw input_error(
        fmt::format("{}: only empty lines; {} needed", path, options.named ? "a line of column names is" : "rows are"));
  const Columns columns = columns_of(csv, fields, options);
  CsvRows rows;
  rows.table.dimensions = {static_cast<std::int64_t>(columns.names.size()) - 1};
  if (!columns.named)
    add_row(rows, csv, fields, columns);
  while (csv.next(fields))
    add_row(rows, csv, fields, columns);
  if (rows.targets.empty())
    throw input_error(fmt::format("{}: no rows after the column names", path));
  return rows;
}

/// Classes in ascending order of their keys.
template <typename Key> void number_classes(Table& table, const std::vector<Key>& keys) {
  std::map<Key, std::int64_t> classes;
  for (const Key& key : keys)
    classes[key] = 0;
  for (auto& [key, label] : classes) {
    label = table.classes++;
    table.class_names.push_back(fmt::format("{}", key));
  }
  for (const Key& key : keys)
    table.labels.push_back(classes[key]);
}

void understand_targets(CsvRows& rows, const std::string& path, const std::string& name) {
  Table& table = rows.table;
  std::vector<double> numbers;
  for (const std::string& target : rows.targets)
    if (const auto number = number_in(target))
      numbers.push_back(*number);
  const std::set<std::string> texts(rows.targets.begin(), rows.targets.end());
  const std::set<double> values(numbers.begin(), numbers.end());
  const bool all_numbers = numbers.size() == rows.targets.size();
  const bool whole = std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v); });
  if (all_numbers ? values.size() < 2 : texts.size() < 2)
    throw input_error(fmt::format("{}: the target column '{}' has the same value in every row", path, shortened(name)));
  if (all_numbers && !(whole && values.size() <= max_number_classes)) {
    table.numbers.assign(numbers.begin(), numbers.end());
    if (!std::all_of(table.numbers.begin(), table.numbers.end(), [](float v) { return std::isfinite(v); }))
      throw input_error(fmt::format("{}: the target column '{}' has numbers above 3e38", path, shortened(name)));
  } else if (all_numbers) {
    number_classes(table, numbers);
  } else if (texts.size() <= max_text_classes) {
    number_classes(table, rows.targets);
  } else {
    throw input_error(
        fmt::format("{}: the target column '{}' has {} distinct text values; accepted: at most {} classes", path,
                    shortened(name), texts.size(), max_text_classes));
  }
}

CsvOptions options_of(const SourceText& source) {
  CsvOptions options;
  if (const std::string* header = source.find("header")) {
    if (*header != "yes" && *header != "no")
      source.refuse(fmt::format("header is '{}'; accepted: yes, no", shortened(*header)));
    options.named = *header == "yes";
  }
  const std::string* target = source.find("target");
  if (!target || target->empty())
    source.refuse("'target=COLUMN' is missing; accepted: csv:FILE,target=NAME or csv:FILE,header=no,target=NUMBER");
  options.target = *target;
  return options;
}

} // namespace

namespace {

DataSplit open_csv(const SourceText& source, const DataOptions& /*options*/) {
  const CsvOptions options = options_of(source);
  CsvRows rows = read_rows(source.files[0], options);
  understand_targets(rows, source.files[0], options.target);
  return split_table(std::move(rows.table), source.validation);
}

using CsvRow = std::vector<std::string>;

/// The first two rows of a table, or fewer if it has fewer; none if a line is too long for a table.
std::vector<CsvRow> first_rows(const std::string& path) {
  constexpr std::size_t longest_line = 64 * 1024;
  if (is_open_database(path))
    return {};
  std::ifstream file(path, std::ios::binary);
  std::string lines(2 * longest_line, '\0');
  file.read(lines.data(), static_cast<std::streamsize>(lines.size()));
  lines.resize(static_cast<std::size_t>(file.gcount()));
  const std::size_t first = lines.find('\n');
  if (first == std::string::npos ? lines.size() > longest_line : first > longest_line)
    return {};
  if (const std::size_t second = first == std::string::npos ? first : lines.find('\n', first + 1);
      second != std::string::npos)
    lines.resize(second + 1);
  std::vector<CsvRow> rows;
  try {
    CsvText text(lines, path);
    for (CsvRow fields; rows.size() < 2 && text.next(fields);)
      rows.push_back(fields);
  } catch (const Error&) {
    // Opening the table reports it, with the line.
  }
  return rows;
}

/// Whether the first row holds values like the second, not column names: all columns but the last, which may be a
/// class, are numbers, and the last has the same kind in both rows.
bool has_no_names(const std::vector<CsvRow>& rows) {
  const CsvRow& first = rows.front();
  return std::all_of(first.begin(), first.end() - 1, is_number) && !rows.back().empty() &&
         is_number(first.back()) == is_number(rows.back().back());
}

/// The last column becomes the target.
FileText csv_text(const std::string& file) {
  const std::vector<CsvRow> rows = first_rows(file);
  if (rows.empty() || rows.front().back().empty())
    return {fmt::format("csv:{},target=", file), "Enter the column to predict after target="};
  if (has_no_names(rows))
    return {fmt::format("csv:{},header=no,target={}", file, rows.front().size()), {}};
  return {fmt::format("csv:{},target={}", file, rows.front().back()), {}};
}

} // namespace

extern const DataKind csv_data;
const DataKind csv_data{.name = "csv",
                        .form = "csv:FILE,target=NAME or csv:FILE,header=no,target=NUMBER",
                        .more = "columns are counted from 1",
                        .files = 1,
                        .keys = {"target", "header"},
                        .open = open_csv,
                        .choice = FileChoice{"CSV files", "*.csv", csv_text}};

} // namespace batchscope::data
