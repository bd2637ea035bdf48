#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace batchscope::telemetry {

/// A recorded series that this program names.
struct SeriesInfo {
  std::string name;   ///< in the database and in files
  std::string help;   ///< what it is, with its unit
  bool in_csv = true; ///< whether `export --format csv` always has a column for it
};

/// Tokens of a step that count for its loss, of runs on tokens.
inline constexpr const char* tokens = "tokens";
/// All tokens so far per second of training time, as RunClock counts it.
inline constexpr const char* tokens_per_second = "tokens_per_second";

/// A series of one of several data streams: `loss/news` is the loss of the stream news. `quantity` is loss,
/// train_coverage, epoch (both of the stream's own epochs) or examples (of the step).
std::string stream_series(const std::string& quantity, const std::string& stream);
/// The two parts of such a name; nothing for another name.
struct StreamSeries {
  std::string quantity, stream;
};
std::optional<StreamSeries> stream_series_from(const std::string& name);

/// The series that other programs give this name: `train/loss` is loss, `lr` learning_rate, `val/acc` and
/// `eval_accuracy` validation_accuracy. Others keep their name.
std::string usual_series_name(std::string_view name);

/// The series of StepRecord (in the order of step_series()) and those of events.
const std::vector<SeriesInfo>& known_series();
/// Whether known_series() has it. All others are of other programs, or recorded without a place of their own.
bool is_known_series(const std::string& name);

} // namespace batchscope::telemetry
