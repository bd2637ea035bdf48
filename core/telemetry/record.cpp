#include "core/telemetry/record.h"

#include <array>

namespace batchscope::telemetry {

namespace {

struct Column {
  const char* name;
  double (*value)(const StepRecord&);
};

template <auto Member> double member(const StepRecord& record) {
  return static_cast<double>(record.*Member);
}

// The order is part of no file: the database stores the names beside the values.
constexpr std::array columns{
    Column{"examples_seen", member<&StepRecord::examples_seen>},
    Column{"epoch_index", member<&StepRecord::epoch_index>},
    Column{"epoch", member<&StepRecord::epoch>},
    Column{"train_coverage", member<&StepRecord::train_coverage>},
    Column{"batch", member<&StepRecord::batch>},
    Column{"micro_batch", member<&StepRecord::micro_batch>},
    Column{"micro_batches", member<&StepRecord::micro_batches>},
    Column{"accumulate", member<&StepRecord::accumulate>},
    Column{"effective_batch", member<&StepRecord::effective_batch>},
    Column{"loss", member<&StepRecord::loss>},
    Column{"learning_rate", member<&StepRecord::learning_rate>},
    Column{"grad_norm", member<&StepRecord::grad_norm>},
    Column{"seconds", member<&StepRecord::seconds>},
    Column{"allocated_bytes", member<&StepRecord::allocated_bytes>},
    Column{"reserved_bytes", member<&StepRecord::reserved_bytes>},
    Column{"peak_bytes", member<&StepRecord::peak_bytes>},
    Column{"device_bytes", member<&StepRecord::device_bytes>},
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

} // namespace batchscope::telemetry
