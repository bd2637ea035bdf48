#include "core/store/detail/list_columns.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/file/detail/sql.h"
#include "core/telemetry/record.h"

namespace batchscope::store::detail {

namespace {

constexpr std::string_view setting_prefix = "setting.";
constexpr std::array<const char*, 3> summaries = {"last", "min", "max"};

constexpr std::string_view placeholder_prefix = "set.";
constexpr std::string_view program_prefix = "program.";

/// A member of the spec, whatever its name.
std::string path_of(const std::string& key) {
  return "$.\"" + key + '"';
}

/// The text for a placeholder of a program's command, by its key `set.NAME`.
std::string path_of_placeholder(const std::string& key) {
  return "$.\"program\".\"set\".\"" + key.substr(placeholder_prefix.size()) + '"';
}

/// Path of a setting that a program has declared, by its key `program.NAME`.
std::string path_in_start(const std::string& key) {
  return "$.\"program\".\"settings\".\"" + key.substr(program_prefix.size()) + '"';
}

std::vector<std::string> texts(SQLite::Database& database, const char* query) {
  std::vector<std::string> texts;
  SQLite::Statement statement(database, query);
  while (statement.executeStep())
    texts.push_back(statement.getColumn(0));
  return texts;
}

Json json_of(const ListValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return *integer;
  if (const auto* real = std::get_if<double>(&value))
    return json_number(*real);
  const auto* text = std::get_if<std::string>(&value);
  return text ? Json(*text) : Json(nullptr);
}

} // namespace

std::optional<double> number_of(const ListValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value))
    return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&value))
    return *real;
  const auto* text = std::get_if<std::string>(&value); // the settings of programs are texts
  double number = 0;
  if (!text || text->empty())
    return std::nullopt;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  return error == std::errc() && stop == end && std::isfinite(number) ? std::optional(number) : std::nullopt;
}

std::optional<std::string> text_of(const ListValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text ? std::optional(*text) : std::nullopt;
}

bool ListColumns::any(const std::string& query, const std::string& parameter) const {
  auto statement = prepare(database_, query, parameter);
  return statement.executeStep();
}

std::optional<ListColumns::Column> ListColumns::look_up(const std::string& name) const {
  for (const char* summary : summaries) {
    const std::string ending = fmt::format(".{}", summary);
    if (!name.ends_with(ending))
      continue;
    const std::string series = name.substr(0, name.size() - ending.size());
    if (any("SELECT 1 FROM series WHERE name = ? LIMIT 1", series))
      return Column{name, summary, series, {}};
  }
  const std::string key = name.starts_with(setting_prefix) ? name.substr(setting_prefix.size()) : name;
  if (key.empty() || key.find('"') != std::string::npos)
    return std::nullopt;
  const auto has = [&](const char* column, const std::string& path) {
    return any(fmt::format("SELECT 1 FROM run WHERE iif(json_valid({0}), json_type({0}, ?), NULL) IS NOT NULL LIMIT 1",
                           column),
               path);
  };
  std::vector<std::string> paths{path_of(key)};
  if (key.starts_with(placeholder_prefix))
    paths.push_back(path_of_placeholder(key));
  for (std::string& path : paths)
    if (has("spec", path))
      return Column{name, {}, std::move(path), "valid"};
  if (key.starts_with(program_prefix) && has("start", path_in_start(key)))
    return Column{name, {}, path_in_start(key), "valid_start"};
  return std::nullopt;
}

std::optional<std::size_t> ListColumns::find(const std::string& name) {
  const auto known =
      std::find_if(columns_.begin(), columns_.end(), [&](const Column& column) { return column.name == name; });
  if (known != columns_.end())
    return static_cast<std::size_t>(known - columns_.begin());
  auto column = look_up(name);
  if (!column)
    return std::nullopt;
  columns_.push_back(*std::move(column));
  return columns_.size() - 1;
}

std::string ListColumns::accepted() const {
  std::set<std::string> settings;
  for (std::string& key : texts(database_, "SELECT DISTINCT key FROM run, json_each(iif(json_valid(spec), spec, '{}')) "
                                           "WHERE deleted IS NULL"))
    settings.insert(std::move(key));
  for (const char* other : {"version", "name", "program"})
    settings.erase(other);
  constexpr const char* placeholders = "SELECT DISTINCT key FROM run, json_each(iif(json_valid(spec), spec, '{}'), "
                                       "'$.program.set') WHERE deleted IS NULL";
  for (const std::string& name : texts(database_, placeholders))
    settings.insert(std::string(placeholder_prefix) + name);
  constexpr const char* of_programs = "SELECT DISTINCT key FROM run, json_each(iif(json_valid(start), start, '{}'), "
                                      "'$.program.settings') WHERE deleted IS NULL";
  for (const std::string& name : texts(database_, of_programs))
    settings.insert(std::string(program_prefix) + name);
  for (const RunField& field : run_fields())
    if (settings.erase(field.name) > 0)
      settings.insert(std::string(setting_prefix) + field.name);
  const auto series = texts(database_, "SELECT DISTINCT name FROM series ORDER BY name");
  std::string text;
  if (!settings.empty())
    text += fmt::format("; settings {}", fmt::join(settings, ", "));
  if (!series.empty())
    text += fmt::format("; .last, .min and .max of the series {}", fmt::join(series, ", "));
  return text;
}

RunField ListColumns::field(const std::string& name, const std::string& option) {
  for (const RunField& field : run_fields())
    if (name == field.name || (!field.short_name.empty() && name == field.short_name))
      return field;
  const auto index = find(name);
  if (!index) {
    std::vector<std::string> names;
    for (const RunField& field : run_fields())
      names.push_back(field.name);
    throw input_error(fmt::format("{}: unknown column {}; accepted: {}{}", option, in_quotes(name),
                                  fmt::join(names, ", "), accepted()));
  }
  const auto value = [index](const RunRow& run) -> const ListValue& { return run.more[*index]; };
  return {.name = name,
          .kind = telemetry::ValueKind::number,
          .number = [value](const RunRow& run) { return number_of(value(run)); },
          .text = [value](const RunRow& run) { return text_of(value(run)); },
          .json = [value](const RunRow& run) { return json_of(value(run)); }};
}

std::string ListColumns::expressions() const {
  std::string text;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    text += columns_[i].summary.empty()
                ? fmt::format(", CASE json_type({1}, :more{0}) WHEN 'true' THEN 'true' WHEN 'false' THEN 'false' ELSE "
                              "json_extract({1}, :more{0}) END",
                              i, columns_[i].from)
                : fmt::format(", (SELECT {} FROM series WHERE series.run = run.id AND series.name = :more{})",
                              columns_[i].summary, i);
  return text;
}

void ListColumns::bind(SQLite::Statement& query) const {
  for (std::size_t i = 0; i < columns_.size(); ++i)
    query.bind(fmt::format(":more{}", i), columns_[i].parameter);
}

std::vector<ListValue> ListColumns::read(SQLite::Statement& query, int first) const {
  std::vector<ListValue> values;
  for (const Column& definition : columns_) {
    const SQLite::Column column = query.getColumn(first++);
    if (column.isNull())
      values.emplace_back();
    else if (column.isInteger())
      values.emplace_back(std::int64_t{column.getInt64()});
    else if (!definition.summary.empty() && std::isnan(real(column)) && telemetry::nan_is_unknown(definition.parameter))
      values.emplace_back();
    else if (column.isFloat() || !definition.summary.empty())
      values.emplace_back(real(column));
    else
      values.emplace_back(column.getString());
  }
  return values;
}

} // namespace batchscope::store::detail
