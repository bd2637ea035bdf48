#include <fmt/format.h>

#include "core/base/error.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/import.h"

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
    const std::string text = detail::with_quoted_numbers(detail::text_of(file));
    const Json state = options.partial ? parse_json_or_discard(text) : parse_json(text);
    if (state.is_discarded())
      return {};
    const auto history = state.find("log_history");
    if (history == state.end() || !history->is_array())
      throw input_error("\"log_history\" is missing; accepted: a trainer_state.json of transformers");
    const std::string first = history->empty() ? "" : json_text(history->front());
    const std::string name_of_run = run_folder(file).filename().string();
    detail::ImportedRun run(name(), file, name_of_run + first, store::CompleteRun::Update::extend);
    run.set_name(name_of_run);
    for (const char* key : {"train_batch_size", "max_steps", "num_train_epochs", "logging_steps"})
      if (const auto found = state.find(key); found != state.end() && found->is_primitive())
        run.set_setting(key, *found);
    for (const Json& row : *history)
      add_row(run, row, options);
    if (run.empty())
      return {};
    const auto number = [&](const char* key) { return state.contains(key) ? number_from_json(state[key]) : 0; };
    run.set_status(number("global_step") < number("max_steps") ? telemetry::RunStatus::running
                                                               : telemetry::RunStatus::finished);
    return {.runs = {run.finish(options)}, .sweeps = {}};
  }

private:
  static void add_row(detail::ImportedRun& run, const Json& row, const ImportOptions& options) {
    const auto step = row.find("step");
    if (step == row.end() || !step->is_number_integer())
      return;
    for (const auto& [key, value] : row.items()) {
      const bool special = value == "NaN" || value == "Infinity" || value == "-Infinity";
      if (key != "step" && (value.is_number() || special))
        run.add(detail::series_name(key, options), step->get<std::int64_t>(), number_from_json(value));
    }
  }
};

} // namespace

std::unique_ptr<Importer> trainer_state_importer();
std::unique_ptr<Importer> trainer_state_importer() {
  return std::make_unique<TrainerStateImporter>();
}

} // namespace batchscope::exchange
