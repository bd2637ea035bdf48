#include "core/telemetry/record.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "core/telemetry/run_clock.h"
#include "core/telemetry/series_info.h"

namespace batchscope::telemetry {

namespace {

struct Column {
  const char* name;
  const char* title;
  ValueKind kind;
  bool in_csv;
  double (*value)(const StepRecord&);
  void (*set)(StepRecord&, double);
};

template <auto Member> double member(const StepRecord& record) {
  return static_cast<double>(record.*Member);
}

template <auto Member> void assign(StepRecord& record, double value) {
  constexpr double bound = 0x1p63;
  if constexpr (std::is_same_v<decltype(record.*Member), double&>)
    record.*Member = value;
  else if (value >= -bound && value < bound) // false for NaN, too
    record.*Member = static_cast<std::int64_t>(value);
}

template <auto Member>
constexpr Column column(const char* name, const char* title, ValueKind kind, bool in_csv = true) {
  return {name, title, kind, in_csv, member<Member>, assign<Member>};
}

using Kind = ValueKind;
constexpr bool not_in_csv = false;

// A new series is a member of StepRecord and a row here. No database depends on this order, but the columns of a CSV
// have it.
constexpr std::array columns{
    column<&StepRecord::examples_seen>("examples_seen", "examples seen", Kind::count),
    column<&StepRecord::epoch_index>("epoch_index", "epoch number", Kind::count, not_in_csv),
    column<&StepRecord::epoch>("epoch", "epoch", Kind::amount),
    column<&StepRecord::train_coverage>("train_coverage", "train_coverage", Kind::share),
    column<&StepRecord::batch>("batch", "batch", Kind::count),
    column<&StepRecord::micro_batch>("micro_batch", "micro batch", Kind::count, not_in_csv),
    column<&StepRecord::micro_batches>("micro_batches", "micro batches", Kind::count, not_in_csv),
    column<&StepRecord::accumulate>("accumulate", "accumulation", Kind::count),
    column<&StepRecord::effective_batch>("effective_batch", "effective batch", Kind::count),
    column<&StepRecord::loss>("loss", "loss", Kind::number),
    column<&StepRecord::learning_rate>("learning_rate", "learning rate", Kind::amount),
    column<&StepRecord::grad_norm>("grad_norm", "gradient norm", Kind::amount),
    column<&StepRecord::seconds>("seconds", "time", Kind::seconds),
    column<&StepRecord::allocated_bytes>("allocated_bytes", "memory in use", Kind::bytes),
    column<&StepRecord::reserved_bytes>("reserved_bytes", "memory reserved", Kind::bytes),
    column<&StepRecord::peak_bytes>("peak_bytes", "peak memory", Kind::bytes),
    column<&StepRecord::device_bytes>("device_bytes", "memory of all processes", Kind::bytes, not_in_csv),
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
      known.push_back({column.name, column.title, column.kind, column.in_csv});
    known.push_back({"validation_loss", "validation loss", Kind::number, not_in_csv});
    known.push_back({"validation_accuracy", "validation accuracy", Kind::share, not_in_csv});
    known.push_back({evaluation_seconds, "time of the evaluation", Kind::seconds, not_in_csv});
    return known;
  }();
  return all;
}

SeriesInfo series_info(const std::string& name) {
  const auto& known = known_series();
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const SeriesInfo& info) { return info.name == name; });
  return found != known.end() ? *found : SeriesInfo{.name = name, .title = name};
}

void row(const StepRecord& record, std::vector<double>& values) {
  values.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    values[i] = columns[i].value(record);
}

void set(StepRecord& record, std::size_t index, double value) {
  columns[index].set(record, value);
}

} // namespace batchscope::telemetry
