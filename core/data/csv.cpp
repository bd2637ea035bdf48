// `csv:`: rows of numeric features with a class or a number as target.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/csv_text.h"
#include "core/data/input_file.h"
#include "core/data/sources.h"
#include "core/data/split.h"

namespace batchscope::data {

namespace {

/// At most so many different whole numbers are classes; more are a quantity.
constexpr std::size_t most_number_classes = 20;
/// More different texts than this are names or remarks, not classes.
constexpr std::size_t most_text_classes = 1000;

struct Table {
  std::int64_t features = 0;
  std::vector<float> values;        ///< row-major, standardised once the split is known
  std::vector<std::string> targets; ///< as they stand in the file; empty once they have been understood
  std::vector<std::int64_t> labels; ///< for classes, else empty
  std::vector<float> numbers;       ///< for a number as target, else empty
  std::int64_t classes = 0;
};

class TableDataset : public Dataset {
public:
  TableDataset(std::shared_ptr<const Table> table, std::vector<std::int64_t> rows)
      : table_(std::move(table)), rows_(std::move(rows)) {
    shape_.input = ExampleShape::Input::features;
    shape_.target = table_->classes > 0 ? ExampleShape::Target::classes : ExampleShape::Target::number;
    shape_.dimensions = {table_->features};
    shape_.classes = table_->classes;
  }

  std::int64_t size() const override { return static_cast<std::int64_t>(rows_.size()); }
  const ExampleShape& shape() const override { return shape_; }
  BatchLayout layout(std::span<const std::int64_t> indices) const override { return layout_without_length(indices); }
  void fill_inputs(std::span<const std::int64_t> indices, float* inputs) const override {
    for (const std::int64_t index : indices) {
      const float* from = table_->values.data() + rows_[static_cast<std::size_t>(index)] * table_->features;
      inputs = std::copy(from, from + table_->features, inputs);
    }
  }
  void fill_labels(std::span<const std::int64_t> indices, std::int64_t length, std::int64_t* labels) const override {
    if (table_->classes == 0)
      return Dataset::fill_labels(indices, length, labels);
    for (const std::int64_t index : indices)
      *labels++ = table_->labels[static_cast<std::size_t>(rows_[static_cast<std::size_t>(index)])];
  }
  void fill_numbers(std::span<const std::int64_t> indices, float* numbers) const override {
    if (table_->classes > 0)
      return Dataset::fill_numbers(indices, numbers);
    for (const std::int64_t index : indices)
      *numbers++ = table_->numbers[static_cast<std::size_t>(rows_[static_cast<std::size_t>(index)])];
  }

private:
  std::shared_ptr<const Table> table_;
  std::vector<std::int64_t> rows_;
  ExampleShape shape_;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// A finite number, or nothing.
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

std::size_t target_column(const CsvText& csv, const std::vector<std::string>& names, const std::string& target) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (trimmed(names[i]) == target)
      found.push_back(i);
  if (found.empty())
    csv.refuse(fmt::format("no column '{}'; there are: {}", target, fmt::join(names, ", ")));
  if (found.size() > 1)
    csv.refuse(fmt::format("there are {} columns '{}'", found.size(), target));
  if (names.size() < 2)
    csv.refuse("there is no column besides the target");
  return found.front();
}

void add_row(Table& table, const CsvText& csv, const std::vector<std::string>& fields,
             const std::vector<std::string>& names, std::size_t target) {
  if (fields.size() != names.size())
    csv.refuse(fmt::format("{} fields, but the first line names {} columns", fields.size(), names.size()));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i == target) {
      table.targets.emplace_back(trimmed(fields[i]));
      if (table.targets.back().empty())
        csv.refuse(fmt::format("column '{}', the target, is empty", names[i]));
      continue;
    }
    const std::optional<double> value = number_in(fields[i]);
    const auto narrow = static_cast<float>(value.value_or(NAN));
    if (!std::isfinite(narrow))
      csv.refuse(fmt::format("column '{}' is '{}'; features are finite numbers", names[i], fields[i]));
    table.values.push_back(narrow);
  }
}

Table read_table(const std::string& path, const std::string& target_name) {
  const std::string text = read_text_file(path);
  CsvText csv(text, path);
  std::vector<std::string> names;
  if (!csv.next(names))
    throw input_error(fmt::format("{}: only empty lines; a line of column names is needed", path));
  const std::size_t target = target_column(csv, names, target_name);
  Table table;
  table.features = static_cast<std::int64_t>(names.size()) - 1;
  std::vector<std::string> fields;
  while (csv.next(fields))
    add_row(table, csv, fields, names, target);
  if (table.targets.empty())
    throw input_error(fmt::format("{}: there are no rows after the column names", path));
  return table;
}

/// Classes in ascending order of their keys.
template <typename Key> void number_classes(Table& table, const std::vector<Key>& keys) {
  std::map<Key, std::int64_t> classes;
  for (const Key& key : keys)
    classes[key] = 0;
  for (auto& [key, label] : classes)
    label = table.classes++;
  for (const Key& key : keys)
    table.labels.push_back(classes[key]);
}

void understand_targets(Table& table, const std::string& path, const std::string& name) {
  std::vector<double> numbers;
  for (const std::string& target : table.targets)
    if (const auto number = number_in(target))
      numbers.push_back(*number);
  const std::set<std::string> texts(table.targets.begin(), table.targets.end());
  const std::set<double> values(numbers.begin(), numbers.end());
  const bool all_numbers = numbers.size() == table.targets.size();
  const bool whole = std::all_of(values.begin(), values.end(), [](double v) { return v == std::floor(v); });
  if (all_numbers ? values.size() < 2 : texts.size() < 2)
    throw input_error(fmt::format("{}: the target column '{}' has the same value in every row", path, name));
  if (all_numbers && !(whole && values.size() <= most_number_classes)) {
    table.numbers.assign(numbers.begin(), numbers.end());
    if (!std::all_of(table.numbers.begin(), table.numbers.end(), [](float v) { return std::isfinite(v); }))
      throw input_error(fmt::format("{}: the target column '{}' has numbers above 3e38", path, name));
  } else if (all_numbers) {
    number_classes(table, numbers);
  } else if (texts.size() <= most_text_classes) {
    number_classes(table, table.targets);
  } else {
    throw input_error(fmt::format("{}: the target column '{}' has {} different texts; at most {} are classes", path,
                                  name, texts.size(), most_text_classes));
  }
  table.targets.clear();
}

/// Mean 0 and deviation 1 over the training rows; a column that does not vary there becomes 0.
void standardise(Table& table, const std::vector<std::int64_t>& train) {
  const auto rows = static_cast<double>(train.size());
  for (std::int64_t column = 0; column < table.features; ++column) {
    const auto value = [&](std::int64_t row) -> float& {
      return table.values[static_cast<std::size_t>(row * table.features + column)];
    };
    double mean = 0;
    for (const std::int64_t row : train)
      mean += value(row) / rows;
    double variance = 0;
    for (const std::int64_t row : train)
      variance += (value(row) - mean) * (value(row) - mean) / rows;
    const double deviation = std::sqrt(variance);
    const double scale = deviation > 1e-12 * (1 + std::abs(mean)) ? 1 / deviation : 0;
    for (std::int64_t row = 0; row * table.features < static_cast<std::int64_t>(table.values.size()); ++row)
      value(row) = static_cast<float>((value(row) - mean) * scale);
  }
}

} // namespace

DataSplit open_csv(const SourceText& source) {
  const std::string* target = source.find("target");
  if (!target || target->empty())
    source.refuse("'target=COLUMN' is missing; accepted: csv:FILE,target=COLUMN[,validation=0.2]");
  Table table = read_table(source.files[0], *target);
  understand_targets(table, source.files[0], *target);
  Split split = draw_split(static_cast<std::int64_t>(table.values.size()) / table.features, source.validation);
  standardise(table, split.train);

  const auto shared = std::make_shared<const Table>(std::move(table));
  DataSplit result;
  result.train = std::make_shared<TableDataset>(shared, std::move(split.train));
  if (!split.validation.empty())
    result.validation = std::make_shared<TableDataset>(shared, std::move(split.validation));
  return result;
}

} // namespace batchscope::data
