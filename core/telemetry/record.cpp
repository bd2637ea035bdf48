#include "core/telemetry/record.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/telemetry/run_clock.h"
#include "core/telemetry/series_info.h"
#include "core/telemetry/trace.h"

namespace batchscope::telemetry {

namespace {

struct Column {
  const char* name;
  const char* help;
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

template <auto Member, std::int64_t Least = 1>
constexpr Column column(const char* name, const char* help, bool in_csv = true) {
  return {name, help, in_csv, true, member<Member, Least>, assign<Member>};
}

/// A number that may really be NaN.
template <auto Member> constexpr Column diverging(const char* name, const char* help) {
  return {name, help, true, false, member<Member, 1>, assign<Member>};
}

constexpr bool not_in_csv = false;

constexpr std::array<const char*, use_count> uses_in_words = {"parameters",  "gradients", "the optimizer's state",
                                                              "activations", "workspace", "the batch's examples"};

// A new series is a member of StepRecord and a row here. No database depends on this order, but the columns of a CSV
// have it.
constexpr const char* loss_name = "loss";

constexpr std::array columns{
    column<&StepRecord::examples_seen>("examples_seen", "examples in the whole run, after the step"),
    column<&StepRecord::epoch_index, 0>("epoch_index", "epoch that the examples of the step are from, counted from 0",
                                        not_in_csv),
    column<&StepRecord::epoch>("epoch", "passes over the training examples"),
    column<&StepRecord::train_coverage>("train_coverage", "fraction of the epoch that was seen, 0 to 1"),
    column<&StepRecord::batch>("batch", "batch size of the schedule: examples per rank and accumulation step"),
    column<&StepRecord::micro_batch>("micro_batch", "largest micro batch that was run", not_in_csv),
    column<&StepRecord::micro_batches>("micro_batches", "forward and backward passes on this rank", not_in_csv),
    column<&StepRecord::accumulate>("accumulate", "accumulation steps"),
    column<&StepRecord::effective_batch>("effective_batch", "examples of the step, over all ranks"),
    diverging<&StepRecord::loss>(loss_name, "mean loss of the examples (or tokens) of the step"),
    column<&StepRecord::learning_rate>("learning_rate", "learning rate of the step"),
    diverging<&StepRecord::grad_norm>("grad_norm", "L2 norm of all gradients, before clipping"),
    column<&StepRecord::seconds>("seconds", "seconds since the start of the run, without pauses"),
    column<&StepRecord::allocated_bytes>("allocated_bytes", "bytes in use after the step"),
    column<&StepRecord::reserved_bytes>("reserved_bytes", "bytes in use and cached after the step"),
    column<&StepRecord::peak_bytes>("peak_bytes", "highest number of bytes in use during the step"),
    column<&StepRecord::device_bytes, 0>(
        "device_bytes", "bytes in use by all processes, as the driver of the GPU reports them", not_in_csv),
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
      known.push_back({column.name, column.help, column.in_csv});
    for (const auto& [name, help] : {
             std::pair("validation_loss", "mean loss of all validation examples"),
             {"validation_accuracy", "fraction of the validation examples that are classified correctly, 0 to 1"},
             {evaluation_seconds, "seconds of the evaluation"},
             {noise_scale, "gradient noise scale, in examples (--noise-every)"},
             {disturbed, "fraction of the time since the last value that other work on the machine took, 0 to 1"},
             {ran_seconds, "processor seconds of the training threads since the last value"},
             {waited_seconds, "seconds that training threads were ready and did not run since the last value"},
         })
      known.push_back({name, help, not_in_csv});
    for (int use = 0; use < use_count; ++use)
      known.push_back({peak_series(static_cast<Use>(use)),
                       std::string("bytes of ") + uses_in_words[use] +
                           " at the peak of a step (device cpu), at steps where these have changed",
                       not_in_csv});
    return known;
  }();
  return all;
}

std::string usual_series_name(std::string_view name) {
  const auto usual = [](std::string_view rest) {
    if (rest == "acc")
      return std::string("accuracy");
    if (rest == "lr")
      return std::string("learning_rate");
    return std::string(rest == "batch_size" ? "batch" : rest);
  };
  for (const std::string_view prefix : {"validation/", "valid/", "val/", "eval/", "val_", "valid_", "eval_"})
    if (name.starts_with(prefix))
      return "validation_" + usual(name.substr(prefix.size()));
  constexpr std::string_view training = "train/";
  return usual(name.starts_with(training) ? name.substr(training.size()) : name);
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
