#include "core/exchange/detail/wandb_records.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/exchange/detail/imported_run.h"
#include "core/exchange/detail/number_text.h"
#include "core/exchange/detail/protobuf.h"

namespace batchscope::exchange::detail {

namespace {

/// A member of a configuration, a summary or a row of the history: messages of the same form.
using WandbItem = std::pair<std::string, Json>; ///< key and value; the key of a nested one is `outer.inner`

WandbItem read_item(std::string_view message) {
  std::string key, nested;
  Json value;
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->is(1, Wire::bytes))
      key = field->bytes;
    else if (field->is(2, Wire::bytes))
      nested.append(nested.empty() ? "" : ".").append(field->bytes);
    else if (field->is(16, Wire::bytes))
      value = read_python_json(field->bytes);
  }
  return {key.empty() ? nested : key, std::move(value)};
}

/// Calls `take` with each item of the field `number` of a message.
template <typename Take> void for_each_item(std::string_view message, int number, const Take& take) {
  Fields fields(message);
  while (const auto field = fields.next())
    if (field->is(number, Wire::bytes))
      take(read_item(field->bytes));
}

/// google.protobuf.Timestamp, as seconds since 1970.
double read_timestamp(std::string_view message) {
  double seconds = 0;
  Fields fields(message);
  while (const auto field = fields.next())
    if (field->is(1, Wire::varint))
      seconds += static_cast<double>(static_cast<std::int64_t>(field->integer));
    else if (field->is(2, Wire::varint))
      seconds += static_cast<double>(static_cast<std::int32_t>(field->integer)) * 1e-9;
  return seconds;
}

/// Calls `take` with each number of an item; those in objects as `outer.inner`. Media are objects with a `_type`.
template <typename Take> void for_each_number(const std::string& key, const Json& value, const Take& take) {
  if (const auto number = optional_number_from_json(value))
    take(key, *number);
  else if (value.is_object() && !value.contains("_type"))
    for (const auto& [inner, member] : value.items())
      for_each_number(fmt::format("{}.{}", key, inner), member, take);
}

/// Epochs are a series here: a curve over them would lie beside those over steps.
bool counts_epochs(const std::string& name) {
  return name == "epoch" || name.ends_with("/epoch");
}

/// A ConfigRecord or SummaryRecord.
void update(std::map<std::string, Json>& members, std::string_view message) {
  for_each_item(message, 1, [&](WandbItem item) { members[item.first] = std::move(item.second); });
  for_each_item(message, 2, [&](const WandbItem& item) { members.erase(item.first); });
}

std::optional<std::int64_t> step_of(std::string_view history_record) {
  std::optional<std::int64_t> step;
  Fields fields(history_record);
  while (const auto field = fields.next())
    if (field->is(2, Wire::bytes)) {
      step = 0;
      Fields inner(field->bytes);
      while (const auto number = inner.next())
        if (number->is(1, Wire::varint))
          step = static_cast<std::int64_t>(number->integer);
    }
  return step;
}

} // namespace

void StepMetrics::define(std::string_view message) {
  std::string name, glob, step_metric;
  Fields fields(message);
  while (const auto field = fields.next())
    if (field->is(1, Wire::bytes))
      name = field->bytes;
    else if (field->is(2, Wire::bytes))
      glob = field->bytes;
    else if (field->is(4, Wire::bytes))
      step_metric = field->bytes;
  if (step_metric.empty() || counts_epochs(step_metric))
    return;
  if (!name.empty())
    by_name_[name] = step_metric;
  else if (glob.ends_with('*'))
    by_beginning_[glob.substr(0, glob.size() - 1)] = step_metric;
  all_.insert(step_metric);
}

std::string StepMetrics::of(const std::string& name) const {
  if (const auto found = by_name_.find(name); found != by_name_.end())
    return found->second;
  const std::string* longest = nullptr;
  for (const auto& [beginning, step_metric] : by_beginning_) // a longer one comes after those that it begins with
    if (name.starts_with(beginning))
      longest = &step_metric;
  return longest ? *longest : std::string();
}

void WandbRecords::take(std::string_view record) {
  Fields fields(record);
  while (const auto field = fields.next())
    if (field->wire == Wire::bytes)
      take_field(field->number, field->bytes);
}

void WandbRecords::take_field(int number, std::string_view message) {
  enum { history = 2, summary = 3, config = 5, stats = 7, metric = 12, output_raw = 13, run = 17, run_exit = 18 };
  switch (number) {
  case history:
    return take_row(message);
  case summary:
    return update(facts_.summary, message);
  case config:
    return update(facts_.config, message);
  case stats:
    return take_stats(message);
  case metric:
    return step_metrics_.define(message);
  case output_raw:
    return take_output(message);
  case run:
    return take_run(message);
  case run_exit:
    return take_exit(message);
  default:
    return;
  }
}

void WandbRecords::take_row(std::string_view message) {
  std::vector<std::pair<std::string, double>> values;
  std::optional<double> step, seconds, time;
  for_each_item(message, 1, [&](const WandbItem& item) {
    const auto& [key, value] = item;
    if (key == "_step")
      step = optional_number_from_json(value);
    else if (key == "_runtime")
      seconds = optional_number_from_json(value);
    else if (key == "_timestamp")
      time = optional_number_from_json(value);
    else if (key != "_wandb")
      for_each_number(key, value, [&](const std::string& name, double number) { values.emplace_back(name, number); });
  });
  last_step_ = step && whole_number(*step) ? *whole_number(*step) : step_of(message).value_or(last_step_ + 1);
  for (const auto& [key, value] : values)
    if (step_metrics_.is_one(key))
      counted_[key] = value;
  std::optional<std::int64_t> reached;
  for (const auto& [key, value] : values) {
    const std::int64_t at = step_at(key);
    if (step_metrics_.of(key) == key && whole_number(value))
      continue; // it counts itself
    const std::string series = series_name(key, options_);
    run_.add(series, at, value);
    if (seconds && is_training_loss(series))
      run_.add("seconds", at, *seconds);
    reached = std::max(reached.value_or(at), at);
  }
  if (reached && time)
    run_.reached(*reached, *time);
}

/// The value of its step metric in this row or the last one that had it, if that is a whole number.
std::int64_t WandbRecords::step_at(const std::string& key) const {
  const auto counted = counted_.find(step_metrics_.of(key));
  return counted == counted_.end() ? last_step_ : whole_number(counted->second).value_or(last_step_);
}

void WandbRecords::take_stats(std::string_view message) {
  double time = 0;
  std::vector<WandbItem> items;
  Fields fields(message);
  while (const auto field = fields.next())
    if (field->is(2, Wire::bytes))
      time = read_timestamp(field->bytes);
    else if (field->is(3, Wire::bytes))
      items.push_back(read_item(field->bytes));
  for (const auto& [key, value] : items)
    if (const auto number = optional_number_from_json(value); number && !key.starts_with('_'))
      run_.sample(series_name("system/" + key, options_), time, *number);
}

void WandbRecords::take_output(std::string_view message) {
  Fields fields(message);
  while (const auto field = fields.next())
    if (field->is(3, Wire::bytes))
      facts_.output += field->bytes;
  if (facts_.output.size() > 2 * most_output)
    facts_.output.erase(0, facts_.output.size() - most_output);
}

void WandbRecords::take_run(std::string_view message) {
  const auto set = [](std::string& text, const Field& field) { text = field.bytes; };
  Fields fields(message);
  while (const auto field = fields.next()) {
    if (field->wire != Wire::bytes)
      continue;
    switch (field->number) {
    case 3:
      set(facts_.project, *field);
      break;
    case 4:
      update(facts_.config, field->bytes);
      break;
    case 5:
      update(facts_.summary, field->bytes);
      break;
    case 6:
      set(facts_.group, *field);
      break;
    case 7:
      set(facts_.job_type, *field);
      break;
    case 8:
      set(facts_.name, *field);
      break;
    case 9:
      set(facts_.note, *field);
      break;
    case 10:
      facts_.tags.insert(std::string(field->bytes));
      break;
    case 12:
      set(facts_.sweep, *field);
      break;
    case 17:
      if (!facts_.started)
        facts_.started = read_timestamp(field->bytes);
      break;
    default:
      break;
    }
  }
}

void WandbRecords::take_exit(std::string_view message) {
  facts_.exit_code = 0; // the default is not written
  Fields fields(message);
  while (const auto field = fields.next())
    if (field->is(1, Wire::varint))
      facts_.exit_code = static_cast<std::int32_t>(field->integer);
    else if (field->is(2, Wire::varint))
      facts_.runtime = static_cast<double>(static_cast<std::int32_t>(field->integer));
}

} // namespace batchscope::exchange::detail
