#include "core/telemetry/record.h"

#include <array>
#include <type_traits>

namespace batchscope::telemetry {

namespace {

struct Column {
  const char* name;
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

template <auto Member> constexpr Column column(const char* name) {
  return {name, member<Member>, assign<Member>};
}

// No file depends on this order: the database stores names beside values.
constexpr std::array columns{
    column<&StepRecord::examples_seen>("examples_seen"),
    column<&StepRecord::epoch_index>("epoch_index"),
    column<&StepRecord::epoch>("epoch"),
    column<&StepRecord::train_coverage>("train_coverage"),
    column<&StepRecord::batch>("batch"),
    column<&StepRecord::micro_batch>("micro_batch"),
    column<&StepRecord::micro_batches>("micro_batches"),
    column<&StepRecord::accumulate>("accumulate"),
    column<&StepRecord::effective_batch>("effective_batch"),
    column<&StepRecord::loss>("loss"),
    column<&StepRecord::learning_rate>("learning_rate"),
    column<&StepRecord::grad_norm>("grad_norm"),
    column<&StepRecord::seconds>("seconds"),
    column<&StepRecord::allocated_bytes>("allocated_bytes"),
    column<&StepRecord::reserved_bytes>("reserved_bytes"),
    column<&StepRecord::peak_bytes>("peak_bytes"),
    column<&StepRecord::device_bytes>("device_bytes"),
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

void row(const StepRecord& record, std::vector<double>& values) {
  values.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i)
    values[i] = columns[i].value(record);
}

void set(StepRecord& record, std::size_t index, double value) {
  columns[index].set(record, value);
}

} // namespace batchscope::telemetry
