#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/exchange/import.h"
#include "core/store/run_store.h"

namespace batchscope::exchange::detail {

/// Builds a run from the points of another program's file.
class ImportedRun {
public:
  /// `from` is the importer's name. `identity`: what stays the same whenever this run is read, also after it has grown,
  /// and `update` what to do with a run that is there under it.
  ImportedRun(const std::string& from, const std::filesystem::path& file, std::string_view identity,
              store::CompleteRun::Update update);

  void set_name(const std::string& name) { run_.name = name; }
  void set_note(const std::string& note) { run_.note = note; }
  /// The text in one line; one that cannot be a tag (store::is_tag) is left out.
  void add_tag(const std::string& text);
  void set_started(double unix_seconds);
  void set_ended(double unix_seconds) { ended_ = unix_seconds; }
  /// As the file has it: running, or how the run ended. Not called for formats that do not say it.
  void set_status(telemetry::RunStatus status, const std::string& reason = {});
  /// `imported_from` and `file` are kept.
  void set_setting(const std::string& key, const Json& value);
  /// Each member of an object: objects in it as `outer.inner`, lists as their text, null left out.
  void add_settings(const Json& object, const std::string& prefix = {});
  /// Sets the run's environment, an object.
  void set_environment(const Json& environment) { run_.environment_json = json_text(environment); }
  /// The last that the run printed, and the file that has all of it.
  void set_output(const std::string& tail, const std::filesystem::path& file);
  /// The series is not the loss, although it may have its name.
  void keep_name(const std::string& series) { kept_name_ = series; }
  /// Points may come in any order; of several at one step the last one counts. An empty name: left out.
  void add(const std::string& series, std::int64_t step, double value);
  bool empty() const { return series_.empty(); }
  bool has(const std::string& series) const { return series_.contains(series); }
  std::int64_t last_step() const { return last_step_; } ///< the highest one that was added; 0 if there is none

  /// Values that were measured by time and not by step, as of a monitor of the machine. They belong to the step that
  /// the run had reached by then, of those given to reached(); without any, to the number of the sample. They do not
  /// count as steps.
  void sample(const std::string& series, double unix_seconds, double value);
  void reached(std::int64_t step, double unix_seconds) { reached_.emplace_back(unix_seconds, step); }

  /// The finished run: its outcome follows from its series and settings.
  store::CompleteRun finish(const ImportOptions& options);

private:
  telemetry::RunStatus status(bool running) const;
  void name_loss(const ImportOptions& options);
  void name_settings();
  void take_outcome();
  void place_samples();

  store::CompleteRun run_;
  std::optional<telemetry::RunStatus> status_;
  std::optional<double> started_, ended_;
  Json settings_ = Json::object();
  std::map<std::string, std::vector<store::Point>> series_;
  std::string kept_name_;
  std::int64_t last_step_ = 0;
  std::vector<std::pair<double, std::int64_t>> reached_; ///< times and steps
  struct Sample {
    double time = 0; ///< seconds since 1970
    double value = 0;
  };
  std::map<std::string, std::vector<Sample>> samples_;
};

/// The series for a name in another program's file: the one that the options give, else the usual name of ours:
/// `train/loss` is loss, `val/acc` and `eval_accuracy` validation_accuracy. Others keep their name.
std::string series_name(const std::string& name, const ImportOptions& options);
/// Name of the series that is the loss of a run without a series `loss`: train_loss or train_loss_step; else empty.
/// (transformers has both loss and train_loss, the mean of all steps.)
std::string name_of_loss(const std::function<bool(const std::string&)>& has_series);
/// Whether a series has the training loss, the times of whose points are those of the steps.
bool is_training_loss(const std::string& series);
/// The whole text file, which may be empty; throws Error (input).
std::string text_of(const std::filesystem::path& file);
/// A number where the whole text is one.
std::optional<double> number_in(std::string_view text);
/// The number that a text is, a whole one where it is; else the text.
Json value_of_text(const std::string& text);
/// JSON as Python's json writes it, with bare NaN and Infinity; they become the texts that number_from_json() reads.
std::string with_quoted_numbers(std::string_view text);
/// Reads such a text; is_discarded() where it is no JSON, or one of more than 64 levels.
Json read_python_json(std::string_view text);
/// 32 hexadecimal digits that depend on all of the text.
std::string digest(std::string_view text);
/// A regular file, as bytes; one that is not open for any other, as reading it might wait without end.
std::ifstream opened(const std::filesystem::path& file, std::ios::openmode mode = {});
/// The first bytes of a file; empty if it cannot be read.
std::string first_bytes(const std::filesystem::path& file, std::size_t count);
/// The last bytes of a file, from the begin of a line if there are more; empty if it cannot be read.
std::string last_lines(const std::filesystem::path& file, std::size_t most_bytes);
/// The remark on records of a log that could not be read, `first` the byte of the first of them.
std::string damage_remark(const std::filesystem::path& file, std::int64_t records, std::uint64_t first);

} // namespace batchscope::exchange::detail
