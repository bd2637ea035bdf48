#include <fmt/format.h>

#include "core/base/error.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/detail/number_text.h"
#include "core/exchange/import.h"
#include "core/store/run_store.h"

namespace batchscope::exchange {

namespace {

namespace fs = std::filesystem;

constexpr const char* state_name = "trainer_state.json";
constexpr std::string_view checkpoint = "checkpoint-";

/// The run's folder: transformers writes a state into each `checkpoint-STEP`, and one beside them at the end.
fs::path run_folder(const fs::path& state) {
  const fs::path folder = fs::absolute(state).lexically_normal().parent_path();
  return folder.filename().string().starts_with(checkpoint) ? folder.parent_path() : folder;
}

std::int64_t checkpoint_step(const fs::path& folder) {
  const std::string name = folder.filename().string();
  const auto step = name.starts_with(checkpoint) ? detail::number_in(name.substr(checkpoint.size())) : std::nullopt;
  return step ? static_cast<std::int64_t>(*step) : -1;
}

/// The file itself, or the newest state in the folder of a run or of a checkpoint; empty if there is none.
fs::path newest_state(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored))
    return path.filename() == state_name ? path : fs::path();
  if (fs::exists(path / state_name, ignored))
    return path / state_name;
  std::pair<std::int64_t, fs::path> newest{-1, {}};
  for (const auto& entry : fs::directory_iterator(path, ignored))
    if (fs::exists(entry.path() / state_name, ignored))
      newest = std::max(newest, {checkpoint_step(entry.path()), entry.path() / state_name});
  return newest.second;
}

class TrainerStateImporter final : public Importer {
public:
  std::string name() const override { return "trainer_state"; }
  std::string title() const override { return "Hugging Face trainer_state.json, or the folder of its checkpoints"; }

  bool accepts(const fs::path& path) const override { return !newest_state(path).empty(); }

  ImportedRuns read(const fs::path& path, const ImportOptions& options) const override {
    const fs::path file = newest_state(path);
    const Json state = read_state(file, options.partial);
    if (state.is_discarded())
      return {};
    const auto history = state.find("log_history");
    if (history == state.end() || !history->is_array())
      throw input_error("\"log_history\" is missing; accepted: a trainer_state.json of transformers");
    const std::string first = history->empty() ? "" : json_text(history->front());
    const std::string name_of_run = run_folder(file).filename().string();
    detail::ImportedRun run(name(), file, name_of_run + first, store::CompleteRun::Update::extend);
    run.set_name(name_of_run);
    for (const char* key :
         {"train_batch_size", "max_steps", "num_train_epochs", "logging_steps", "best_global_step", "best_metric"})
      if (const auto found = state.find(key); found != state.end() && found->is_primitive() && !found->is_null())
        run.set_setting(key, *found);
    bool summed_up = false;
    std::int64_t left_out = 0;
    for (const Json& row : *history) {
      left_out += add_row(run, row, options) ? 0 : 1;
      summed_up = summed_up || is_summary(row);
    }
    if (run.empty())
      return {};
    set_end(run, state, summed_up);
    ImportedRuns read;
    if (left_out > 0)
      read.remarks.push_back(fmt::format(
          "{}: the step of a row of log_history is not a whole number, 0 or more; rows that were left out: {}",
          file.string(), left_out));
    if (summed_up && !run.has("loss")) {
      run.keep_name("train_loss");
      read.remarks.push_back(
          fmt::format("{}: has no losses of steps; train_loss is the mean of the whole run", file.string()));
    }
    read.runs.push_back(run.finish(options));
    return read;
  }

private:
  /// Throws Error (input) for a text that is not whole, which a partial one need not be: that gives is_discarded().
  static Json read_state(const fs::path& file, bool partial) {
    const std::string text = detail::text_of(file);
    Json state = detail::read_python_json(text);
    if (state.is_discarded() && !partial) {
      parse_json(detail::with_quoted_numbers(text)); // says where it is wrong
      throw input_error("JSON of more levels than a trainer_state.json has");
    }
    return state;
  }

  /// The last row, after training: its train_loss is the mean of all steps.
  static bool is_summary(const Json& row) { return row.is_object() && row.contains("train_runtime"); }

  /// Training has ended at its last step, or earlier: a callback stopped it, or the trainer has summed it up.
  static void set_end(detail::ImportedRun& run, const Json& state, bool summed_up) {
    using telemetry::RunStatus;
    const auto number = [&](const char* key) { return state.contains(key) ? number_from_json(state[key]) : 0; };
    const bool all_steps = !(number("global_step") < number("max_steps"));
    const std::optional<std::int64_t> patience = patience_at_end(run, state);
    if (!all_steps && patience)
      run.set_status(RunStatus::finished, fmt::format("stopped early: no better score in {} evaluation{}", *patience,
                                                      *patience == 1 ? "" : "s"));
    else
      run.set_status(all_steps || summed_up ? RunStatus::finished : RunStatus::running);
  }

  /// The evaluations that EarlyStoppingCallback has waited for a better score before it stopped; nothing if it has not.
  static std::optional<std::int64_t> patience_at_end(detail::ImportedRun& run, const Json& state) {
    const Json callbacks = state.value("stateful_callbacks", Json::object());
    const auto found = callbacks.find("EarlyStoppingCallback");
    if (found == callbacks.end() || !found->is_object())
      return std::nullopt;
    const Json arguments = found->value("args", Json::object());
    run.add_settings(arguments); // early_stopping_patience, early_stopping_threshold
    const auto integer = [](const Json& object, const char* key) -> std::optional<std::int64_t> {
      const auto member = object.find(key);
      return member != object.end() && member->is_number_integer() ? std::optional(member->get<std::int64_t>())
                                                                   : std::nullopt;
    };
    const auto patience = integer(arguments, "early_stopping_patience");
    const auto waited = integer(found->value("attributes", Json::object()), "early_stopping_patience_counter");
    return patience && waited && *waited >= *patience ? patience : std::nullopt;
  }

  /// False for a row that has a step which is none.
  static bool add_row(detail::ImportedRun& run, const Json& row, const ImportOptions& options) {
    const auto found = row.find("step");
    if (found == row.end())
      return true;
    const auto step = detail::whole_number(*found);
    if (!step || *step < 0)
      return false;
    for (const auto& [key, value] : row.items())
      if (const auto number = optional_number_from_json(value); number && key != "step")
        run.add(detail::series_name(key, options), *step, *number);
    return true;
  }
};

} // namespace

std::unique_ptr<Importer> trainer_state_importer();
std::unique_ptr<Importer> trainer_state_importer() {
  return std::make_unique<TrainerStateImporter>();
}

} // namespace batchscope::exchange
