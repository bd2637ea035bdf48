#include "core/compare/runs.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/shell_words.h"
#include "core/filter/values.h"
#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/store/run_reader.h"
#include "core/store/step_times.h"

namespace batchscope::compare {

namespace {

constexpr const char* accuracy_series = "validation_accuracy";
constexpr const char* loss_series = "validation_loss";
constexpr std::string_view program_prefix = "program.";

/// Seconds of the whole run without evaluations.
double training_seconds(const telemetry::RunOutcome& outcome) {
  return outcome.examples_per_second > 0 ? static_cast<double>(outcome.examples_seen) / outcome.examples_per_second
                                         : outcome.seconds;
}

/// The points of a series of validations, with the seconds of training until then.
std::vector<Score> scores_of(const store::RunReader& reader, const store::RunRow& run, const std::string& series,
                             store::StepTimes& times, const std::vector<std::string>& there,
                             const std::optional<double>& last) {
  if (std::find(there.begin(), there.end(), series) == there.end())
    return last ? std::vector<Score>{{training_seconds(run.outcome), *last}} : std::vector<Score>{};
  const auto points = reader.series(run.id, series);
  // Most runs have one at their end; reading the times of all steps would take longer than all the rest.
  if (points.size() == 1 && points.front().step >= run.outcome.steps)
    return {{training_seconds(run.outcome), points.front().value}};
  // Evaluations take as long at every batch size, and how often they are made is not a matter of training.
  const bool is_timed = std::find(there.begin(), there.end(), telemetry::evaluation_seconds) != there.end();
  const auto took = is_timed ? reader.series(run.id, telemetry::evaluation_seconds) : std::vector<store::Point>{};
  std::vector<Score> scores;
  double evaluated = 0;
  auto next = took.begin();
  for (const store::Point& point : points) {
    for (; next != took.end() && next->step < point.step; ++next)
      evaluated += std::isfinite(next->value) ? next->value : 0;
    scores.push_back({times.at(point.step) - evaluated, point.value});
  }
  return scores;
}

/// The long options of a command as settings of their own, so that those in which runs differ are seen, and the rest
/// as `command`: `python train.py --lr=0.1 --bf16` is command `python train.py`, --lr `0.1` and --bf16 `on`.
void add_command(const Json& words, Json& spec) {
  const auto is_option = [](const std::string& word) { return word.size() > 2 && word.starts_with("--"); };
  std::vector<std::string> rest;
  const auto all = words.get<std::vector<std::string>>();
  for (auto word = all.begin(); word != all.end(); ++word) {
    if (!is_option(*word)) {
      rest.push_back(*word);
      continue;
    }
    const std::size_t equals = std::min(word->find('='), word->size());
    const std::string name = word->substr(0, equals);
    std::string value = "on";
    if (equals < word->size())
      value = word->substr(equals + 1);
    else if (std::next(word) != all.end() && !is_option(*std::next(word)))
      value = *++word;
    spec[name] = spec.contains(name) ? spec[name].get<std::string>() + ' ' + value : value;
  }
  spec["command"] = shell_line(rest);
}

/// `loss, validation_accuracy`: which series were read. How they look in the output does not change the training.
std::string names_of(const Json& metrics) {
  std::vector<std::string> names;
  for (const auto& [name, pattern] : metrics.items())
    names.push_back(name);
  std::sort(names.begin(), names.end());
  return fmt::format("{}", fmt::join(names, ", "));
}

bool is_command(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& word) { return word.is_string(); });
}

/// Whether a program was given its run's seed, which otherwise is but a default.
bool knows_seed(const Json& program, const Json& spec) {
  const Json words = program.value("command", Json());
  return program.value("seeded", Json()) == Json(true) || spec.value("seed", Json()) != Json(run::RunSpec{}.seed) ||
         (is_command(words) && std::any_of(words.begin(), words.end(), [](const Json& word) {
            return word.get_ref<const std::string&>().find("{seed}") != std::string::npos;
          }));
}

/// The fields of a program as settings of their own, and so the texts for its placeholders.
Json with_program_fields(Json spec) {
  const auto found = spec.find("program");
  if (found == spec.end() || !found->is_object())
    return spec;
  const Json program = std::move(*found);
  spec.erase(found);
  if (!knows_seed(program, spec))
    spec["seed"] = nullptr;
  for (const auto& [key, value] : program.items()) {
    if (key == "command" && is_command(value))
      add_command(value, spec);
    else if (key == "metrics" && value.is_object())
      spec[key] = names_of(value);
    else if (key == "seeded")
      continue; // it says whether there is a seed
    else if (key != "set" || !value.is_object())
      spec[key] = value;
    else
      for (const auto& [name, text] : value.items())
        spec["set." + name] = text;
  }
  return spec;
}

/// Adds the settings that a program has declared as settings of their own; its seed is that of the run.
void add_program_settings(const run::RunStart& start, Json& spec) {
  if (!start.program)
    return;
  const Json told = parse_json_or_discard(start.program->settings);
  if (told.is_object())
    for (const auto& [name, value] : told.items())
      spec[name == "seed" ? name : std::string(program_prefix) + name] = value;
}

bool is_setting(const std::string& key) {
  return key != "name" && key != "version";
}

std::string text_of_setting(const Json& value) {
  if (value.is_null())
    return "default";
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

/// Runs that differ only in these are repeats of each other: the seed, and what does not affect training.
bool separates_groups(const std::string& key) {
  constexpr std::array same_training{
      "seed", "save", "task", "evaluate_every", "checkpoint_every", "checkpoint_minutes"};
  return std::find(same_training.begin(), same_training.end(), key) == same_training.end();
}

/// `1e-3` and 0.001, `adamw` and `AdamW`: one may be of a command, the other of a program that read it.
bool is_same_value(const std::string& a, const std::string& b) {
  constexpr double rounding = 1e-6; // of single precision
  const auto x = filter::value_of(telemetry::ValueKind::number, a);
  const auto y = filter::value_of(telemetry::ValueKind::number, b);
  if (x && y && std::isfinite(*x) && std::isfinite(*y))
    return std::abs(*x - *y) <= rounding * std::max(std::abs(*x), std::abs(*y));
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char c, char d) { return lower(c) == lower(d); });
}

/// Removes what the programs said only because they were given it, a learning rate of --set, say: a given setting that
/// separates runs has the same value in each. A value that merely varies with a given one is due to the program, which
/// may scale its rate with the batch: both are shown.
void remove_given(const std::vector<ComparedRun>& runs, std::vector<std::string>& differing) {
  std::vector<std::string> given;
  std::copy_if(differing.begin(), differing.end(), std::back_inserter(given),
               [](const std::string& key) { return !key.starts_with(program_prefix) && separates_groups(key); });
  std::erase_if(differing, [&](const std::string& told) {
    return told.starts_with(program_prefix) && std::any_of(given.begin(), given.end(), [&](const std::string& key) {
             return std::all_of(runs.begin(), runs.end(), [&](const ComparedRun& run) {
               return is_same_value(setting_text(run, key), setting_text(run, told));
             });
           });
  });
}

Settings settings_of(const std::vector<ComparedRun>& runs) {
  struct Setting {
    const std::string* key;
    const Json* first; ///< value of the first run that has it
    std::size_t runs;  ///< that have this value
  };
  std::vector<Setting> all;
  std::unordered_map<std::string_view, std::size_t> places;
  for (const ComparedRun& run : runs)
    for (const auto& [key, value] : run.spec.items()) {
      if (!is_setting(key))
        continue;
      const auto [place, is_new] = places.emplace(key, all.size());
      if (is_new)
        all.push_back({&key, &value, 0});
      Setting& setting = all[place->second];
      const bool same = value.type() == setting.first->type()
                            ? value == *setting.first
                            : text_of_setting(value) == text_of_setting(*setting.first);
      setting.runs += same ? 1 : 0;
    }
  Settings settings;
  for (const Setting& setting : all)
    (setting.runs == runs.size() ? settings.same : settings.differing).push_back(*setting.key);
  remove_given(runs, settings.differing);
  return settings;
}

std::vector<Group> group_repeats(const std::vector<ComparedRun>& runs, const Settings& settings) {
  std::vector<std::string> keys;
  std::copy_if(settings.differing.begin(), settings.differing.end(), std::back_inserter(keys), separates_groups);
  std::vector<Group> groups;
  std::map<std::vector<std::string>, std::size_t> known;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<std::string> values;
    for (const std::string& key : keys)
      values.push_back(setting_text(runs[i], key));
    const auto [found, is_new] = known.emplace(values, groups.size());
    if (is_new) {
      groups.emplace_back();
      for (std::size_t k = 0; k < keys.size(); ++k)
        groups.back().values.emplace_back(keys[k], values[k]);
    }
    Group& group = groups[found->second];
    group.runs.push_back(i);
    if (!group.batch)
      group.batch = runs[i].row.outcome.batch;
  }
  return groups;
}

} // namespace

std::vector<ComparedRun> read_runs(const store::RunReader& reader, const std::vector<std::int64_t>& ids) {
  std::vector<ComparedRun> runs;
  reader.at_one_moment([&] {
    for (const std::int64_t id : ids) {
      ComparedRun run;
      run.row = reader.run(id);
      if (Json spec = parse_json_or_discard(reader.spec_json(id)); spec.is_object())
        run.spec = with_program_fields(std::move(spec));
      add_program_settings(run::stored_start(reader.start_json(id)), run.spec);
      if (reader.was_edited(id)) // it has not trained as its settings say, and repeats none that has
        run.spec["schedule"] = setting_text(run, "schedule") + ", edited";
      const auto there = reader.series_names(id);
      store::StepTimes times(reader, run.row);
      run.accuracies = scores_of(reader, run.row, accuracy_series, times, there, run.row.outcome.validation_accuracy);
      run.losses = scores_of(reader, run.row, loss_series, times, there, run.row.outcome.validation_loss);
      runs.push_back(std::move(run));
    }
  });
  return runs;
}

std::string setting_text(const ComparedRun& run, const std::string& key) {
  const auto found = run.spec.find(key);
  return found == run.spec.end() ? "-" : text_of_setting(*found);
}

std::string setting_name(std::string key) {
  constexpr std::string_view placeholder = "set.";
  if (key.starts_with(program_prefix))
    key.erase(0, program_prefix.size());
  else if (key.starts_with(placeholder))
    key.erase(0, placeholder.size()); // as in the names of a sweep's runs
  if (!key.starts_with("--"))
    std::replace(key.begin(), key.end(), '_', ' ');
  return key;
}

namespace {

/// Of many differences, what people tell runs apart by comes first.
int rank_of(const std::string& key) {
  if (key == "batch")
    return 0;
  if (key == "lr" || key.starts_with("set."))
    return 1;
  return key == "model" || key == "command" ? 2 : 3;
}

} // namespace

std::string Group::label() const {
  constexpr std::size_t most = 4, some = 3;
  auto ordered = values;
  if (values.size() > most)
    std::stable_sort(ordered.begin(), ordered.end(),
                     [](const auto& a, const auto& b) { return rank_of(a.first) < rank_of(b.first); });
  std::string text;
  std::size_t named = 0;
  for (const auto& [key, value] : ordered) {
    if (values.size() > most && (value.empty() || named == some))
      continue;
    ++named;
    const std::string name = key == "batch" ? "batch size" : setting_name(key);
    const bool resolved = key == "batch" && batch && std::to_string(*batch) != value; // a share, or one of a search
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, resolved ? std::to_string(*batch) : value);
    if (resolved)
      text += fmt::format(" ({})", value);
  }
  if (const std::size_t others = values.size() - named; others > 0)
    text += fmt::format("{} {} other setting{}", text.empty() ? "" : " and", others, others == 1 ? "" : "s");
  return text;
}

Comparison::Comparison(std::vector<ComparedRun> compared)
    : runs(std::move(compared)), settings(settings_of(runs)), groups(group_repeats(runs, settings)),
      group_of(runs.size()) {
  std::map<std::pair<std::size_t, std::string>, std::size_t> first;
  learnt_as.resize(runs.size());
  for (std::size_t group = 0; group < groups.size(); ++group)
    for (const std::size_t run : groups[group].runs) {
      group_of[run] = group;
      const bool is_own = !runs[run].row.settings.program && runs[run].spec.contains("seed");
      learnt_as[run] =
          is_own ? first.emplace(std::pair(group, setting_text(runs[run], "seed")), run).first->second : run;
    }
}

} // namespace batchscope::compare
