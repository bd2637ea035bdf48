#include "core/telemetry/record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/telemetry/run_clock.h"
#include "core/telemetry/series_info.h"

namespace batchscope::telemetry {

namespace {

struct Column {
  const char* name;
  bool in_csv;
  bool nan_is_unknown; ///< else it is a value
  double (*value)(const StepRecord&);
  void (*set)(StepRecord&, double);
};

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// `Least`: integers below are not known.
template <auto Member, std::int64_t Least> double member(const StepRecord& record) {
  if constexpr (std::is_same_v<decltype(record.*Member), const std::int64_t&>)
    return record.*Member < Least ? not_known : static_cast<double>(record.*Member);
  else
    return record.*Member;
}

template <auto Member> void assign(StepRecord& record, double value) {
  constexpr double bound = 0x1p63;
  if constexpr (std::is_same_v<decltype(record.*Member), double&>)
    record.*Member = value;
  else if (value >= -bound && value < bound) // false for NaN, too
    record.*Member = static_cast<std::int64_t>(value);
}

template <auto Member, std::int64_t Least = 1> constexpr Column column(const char* name, bool in_csv = true) {
  return {name, in_csv, true, member<Member, Least>, assign<Member>};
}

/// A number that may really be NaN.
template <auto Member> constexpr Column diverging(const char* name) {
  return {name, true, false, member<Member, 1>, assign<Member>};
}

constexpr bool not_in_csv = false;

// A new series is a member of StepRecord and a row here. No database depends on this order, but the columns of a CSV
// have it.
constexpr const char* loss_name = "loss";

constexpr std::array columns{
    column<&StepRecord::examples_seen>("examples_seen"),
    column<&StepRecord::epoch_index, 0>("epoch_index", not_in_csv),
    column<&StepRecord::epoch>("epoch"),
    column<&StepRecord::train_coverage>("train_coverage"),
    column<&StepRecord::batch>("batch"),
    column<&StepRecord::micro_batch>("micro_batch", not_in_csv),
    column<&StepRecord::micro_batches>("micro_batches", not_in_csv),
    column<&StepRecord::accumulate>("accumulate"),
    column<&StepRecord::effective_batch>("effective_batch"),
    diverging<&StepRecord::loss>(loss_name),
    column<&StepRecord::learning_rate>("learning_rate"),
    diverging<&StepRecord::grad_norm>("grad_norm"),
    column<&StepRecord::seconds>("seconds"),
    column<&StepRecord::allocated_bytes>("allocated_bytes"),
    column<&StepRecord::reserved_bytes>("reserved_bytes"),
    column<&StepRecord::peak_bytes>("peak_bytes"),
    column<&StepRecord::device_bytes, 0>("device_bytes", not_in_csv),
};

} // namespace

const std::vector<std::string>& step_series() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (const Column& column : columns)
      result.emplace_back(column.name);
    return result;
  }();
  return names;
}

const std::vector<SeriesInfo>& known_series() {
  static const std::vector<SeriesInfo> all = [] {
    std::vector<SeriesInfo> known;
    for (const Column& column : columns)
      known.push_back({column.name, column.in_csv});
    known.push_back({"validation_loss", not_in_csv});
    known.push_back({"validation_accuracy", not_in_csv});
    known.push_back({evaluation_seconds, not_in_csv});
    for (const char* name : {noise_scale, disturbed, ran_seconds, waited_seconds})
      known.push_back({name, not_in_csv});
    return known;
  }();
  return all;
}

std::string stream_series(const std::string& quantity, const std::string& stream) {
  return quantity + '/' + stream;
}

std::optional<StreamSeries> stream_series_from(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos)
    return std::nullopt;
  constexpr std::array quantities = {"loss", "train_coverage", "epoch", "examples"};
  StreamSeries parts{name.substr(0, slash), name.substr(slash + 1)};
  const bool known = std::find(quantities.begin(), quantities.end(), parts.quantity) != quantities.end();
  return known ? std::optional(parts) : std::nullopt;
}

bool is_known_series(const std::string& name) {
  const auto& known = known_series();
  return std::any_of(known.begin(), known.end(), [&](const SeriesInfo& series) { return series.name == name; });
}

StepRecord unknown_record(std::int64_t step) {
  StepRecord record;
  record.step = step;
  record.epoch_index = -1;
  record.epoch = record.train_coverage = record.seconds = not_known;
  record.loss = record.learning_rate = record.grad_norm = not_known;
  record.has_loss = false;
  return record;
}

bool nan_is_unknown(const std::string& series) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const Column& column) { return column.name == series && column.nan_is_unknown; });
}

void row(const StepRecord& record, std::vector<double>& values) {
  values.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    values[i] = columns[i].value(record);
}

std::vector<std::pair<std::string, double>> known_values(const StepRecord& record) {
  std::vector<std::pair<std::string, double>> known = record.more;
  for (const Column& column : columns)
    if (const double value = column.value(record); !std::isnan(value))
      known.emplace_back(column.name, value);
  return known;
}

void set(StepRecord& record, std::size_t index, double value) {
  columns[index].set(record, value);
  record.has_loss = record.has_loss || columns[index].name == loss_name;
}

} // namespace batchscope::telemetry
