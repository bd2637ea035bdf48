#pragma once

#include <cstdint>
#include <filesystem>
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
  void set_started(double unix_seconds);
  void set_ended(double unix_seconds) { ended_ = unix_seconds; }
  /// As the file has it: running, or how the run ended. Not called for formats that do not say it.
  void set_status(telemetry::RunStatus status, const std::string& reason = {});
  /// `imported_from` and `file` are kept.
  void set_setting(const std::string& key, const Json& value);
  /// Points may come in any order; of several at one step the last one counts. An empty name: left out.
  void add(const std::string& series, std::int64_t step, double value);
  bool empty() const { return series_.empty(); }

  /// The finished run: its outcome follows from its series and settings.
  store::CompleteRun finish(const ImportOptions& options);

private:
  telemetry::RunStatus status(bool running) const;
  void name_loss(const ImportOptions& options);
  void name_settings();
  void take_outcome();

  store::CompleteRun run_;
  std::optional<telemetry::RunStatus> status_;
  std::optional<double> started_, ended_;
  Json settings_ = Json::object();
  std::map<std::string, std::vector<store::Point>> series_;
};

/// The series for a name in another program's file: the one that the options give, else the usual name of ours:
/// `train/loss` is loss, `val/acc` and `eval_accuracy` validation_accuracy. Others keep their name.
std::string series_name(const std::string& name, const ImportOptions& options);
/// Of a run that has no series loss, the one that is its loss: train_loss or train_loss_step; else empty. (transformers
/// has both loss and train_loss, the mean of all steps.)
std::string name_of_loss(const std::function<bool(const std::string&)>& has_series);
/// Whether a series has the training loss, the times of whose points are those of the steps.
bool is_training_loss(const std::string& series);
/// The whole text file, which may be empty; throws Error (input).
std::string text_of(const std::filesystem::path& file);
/// A number where the whole text is one.
std::optional<double> number_in(std::string_view text);
/// JSON as Python's json writes it, with bare NaN and Infinity; they become the texts that number_from_json() reads.
std::string with_quoted_numbers(std::string_view text);
/// 32 hexadecimal digits that depend on all of the text.
std::string digest(std::string_view text);
/// The first bytes of a file; empty if it cannot be read.
std::string first_bytes(const std::filesystem::path& file, std::size_t count);

} // namespace batchscope::exchange::detail
