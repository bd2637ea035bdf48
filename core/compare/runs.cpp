#include "core/compare/runs.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace batchscope::compare {

namespace {

constexpr const char* accuracy_series = "validation_accuracy";
constexpr const char* loss_series = "validation_loss";

/// The points of a series of validations, with the seconds at which they were made.
std::vector<Score> scores_of(const store::RunReader& reader, const store::RunRow& run, const std::string& series,
                             const std::vector<std::string>& there, const std::optional<double>& last) {
  if (std::find(there.begin(), there.end(), series) == there.end())
    return last ? std::vector<Score>{{run.outcome.seconds, *last}} : std::vector<Score>{};
  const auto points = reader.series(run.id, series);
  std::vector<Score> scores;
  if (points.size() == 1) // mostly at the end; reading the times of all steps would take longer than all the rest
    return {{run.outcome.seconds, points.front().value}};
  const bool timed = std::find(there.begin(), there.end(), "seconds") != there.end();
  const auto seconds = timed ? reader.series(run.id, "seconds") : std::vector<store::Point>{};
  for (const store::Point& point : points) {
    const auto at = std::lower_bound(seconds.begin(), seconds.end(), point.step,
                                     [](const store::Point& time, std::int64_t step) { return time.step < step; });
    scores.push_back({at == seconds.end() ? run.outcome.seconds : at->value, point.value});
  }
  return scores;
}

bool is_setting(const std::string& key) {
  return key != "name" && key != "version";
}

} // namespace

std::vector<ComparedRun> read_runs(const store::RunReader& reader, const std::vector<std::int64_t>& ids) {
  std::vector<ComparedRun> runs;
  reader.at_one_moment([&] {
    for (const std::int64_t id : ids) {
      ComparedRun run;
      run.row = reader.run(id);
      if (Json spec = parse_json_or_discard(reader.spec_json(id)); spec.is_object())
        run.spec = std::move(spec);
      const auto there = reader.series_names(id);
      run.accuracies = scores_of(reader, run.row, accuracy_series, there, run.row.outcome.validation_accuracy);
      run.losses = scores_of(reader, run.row, loss_series, there, run.row.outcome.validation_loss);
      runs.push_back(std::move(run));
    }
  });
  return runs;
}

std::string setting_text(const ComparedRun& run, const std::string& key) {
  const auto found = run.spec.find(key);
  if (found == run.spec.end())
    return "-";
  if (found->is_null())
    return "default";
  return found->is_string() ? found->get<std::string>() : json_text(*found);
}

Settings settings_of(const std::vector<ComparedRun>& runs) {
  Settings settings;
  std::vector<std::string> keys;
  for (const ComparedRun& run : runs)
    for (const auto& [key, value] : run.spec.items())
      if (is_setting(key) && std::find(keys.begin(), keys.end(), key) == keys.end())
        keys.push_back(key);
  for (const std::string& key : keys) {
    const std::string first = setting_text(runs.front(), key);
    const bool same =
        std::all_of(runs.begin(), runs.end(), [&](const ComparedRun& run) { return setting_text(run, key) == first; });
    (same ? settings.same : settings.differing).push_back(key);
  }
  return settings;
}

std::string Group::label() const {
  std::string text;
  for (const auto& [key, value] : values) {
    std::string name = key == "batch" ? "batch size" : key;
    std::replace(name.begin(), name.end(), '_', ' ');
    const bool resolved = key == "batch" && batch && std::to_string(*batch) != value; // a share, or one of a search
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, resolved ? std::to_string(*batch) : value);
    if (resolved)
      text += fmt::format(" ({})", value);
  }
  return text;
}

std::vector<Group> group_repeats(const std::vector<ComparedRun>& runs) {
  std::vector<std::string> keys;
  for (const std::string& key : settings_of(runs).differing)
    if (key != "seed")
      keys.push_back(key);
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

} // namespace batchscope::compare
