#include <fmt/format.h>

#include "core/base/error.h"
#include "core/data/input_file.h"
#include "core/exchange/detail/imported_run.h"
#include "core/exchange/import.h"

namespace batchscope::exchange {

namespace {

/// Python's json writes NaN and Infinity bare; ours has them as texts.
std::string with_quoted_numbers(const std::string& text) {
  std::string quoted;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\'))
      in_text = !in_text;
    bool replaced = false;
    for (const std::string_view word : {"NaN", "-Infinity", "Infinity"})
      if (!in_text && !replaced && text.compare(i, word.size(), word) == 0) {
        quoted += fmt::format("\"{}\"", word);
        i += word.size() - 1;
        replaced = true;
      }
    if (!replaced)
      quoted += text[i];
  }
  return quoted;
}

std::string series_of_log(const std::string& key, const ImportOptions& options) {
  if (const auto given = options.names.find(key); given != options.names.end())
    return given->second;
  return key.starts_with("eval_") ? "validation_" + key.substr(5) : key;
}

class TrainerStateImporter final : public Importer {
public:
  std::string name() const override { return "trainer_state"; }
  std::string title() const override { return "Hugging Face trainer_state.json"; }

  bool accepts(const std::filesystem::path& path) const override { return path.filename() == "trainer_state.json"; }

  ImportedRuns read(const std::filesystem::path& path, const ImportOptions& options) const override {
    const Json state = parse_json(with_quoted_numbers(data::read_text_file(path.string())));
    const auto history = state.find("log_history");
    if (history == state.end() || !history->is_array())
      throw input_error("\"log_history\" is missing; accepted: a trainer_state.json of transformers");
    const std::string first = history->empty() ? "" : json_text(history->front());
    const auto folder = std::filesystem::absolute(path).parent_path();
    detail::ImportedRun run(name(), path, folder.parent_path().filename().string() + first);
    run.set_name(folder.filename().string());
    for (const char* key : {"train_batch_size", "max_steps", "num_train_epochs", "logging_steps"})
      if (const auto found = state.find(key); found != state.end() && found->is_primitive())
        run.set_setting(key, *found);
    if (const auto batch = state.find("train_batch_size"); batch != state.end() && batch->is_number_integer())
      run.set_setting("batch", *batch);
    for (const Json& row : *history)
      add_row(run, row, options);
    if (run.empty())
      throw input_error("\"log_history\" has no values");
    return {.runs = {run.finish()}, .sweeps = {}};
  }

private:
  static void add_row(detail::ImportedRun& run, const Json& row, const ImportOptions& options) {
    const auto step = row.find("step");
    if (step == row.end() || !step->is_number_integer())
      return;
    for (const auto& [key, value] : row.items()) {
      const bool special = value == "NaN" || value == "Infinity" || value == "-Infinity";
      if (key != "step" && (value.is_number() || special))
        run.add(series_of_log(key, options), step->get<std::int64_t>(), number_from_json(value));
    }
  }
};

} // namespace

std::unique_ptr<Importer> trainer_state_importer();
std::unique_ptr<Importer> trainer_state_importer() {
  return std::make_unique<TrainerStateImporter>();
}

} // namespace batchscope::exchange
