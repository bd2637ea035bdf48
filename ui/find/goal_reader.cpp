#include "ui/find/goal_reader.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/store/run_reader.h"
#include "core/sweep/sweep_spec.h"

namespace batchscope::ui {

namespace {

/// The newest sweep over the sizes of this search; nothing if there is none.
std::optional<std::pair<std::int64_t, sweep::SweepSpec>> sweep_of(const store::RunReader& reader, std::int64_t search) {
  const auto sweeps = reader.sweeps();
  for (auto stored = sweeps.rbegin(); stored != sweeps.rend(); ++stored) {
    try {
      sweep::SweepSpec spec = sweep::stored_sweep_from_json(stored->spec_json);
      if (spec.search == search)
        return std::pair(stored->id, std::move(spec));
    } catch (const Error&) {
      // From a newer version.
    }
  }
  return std::nullopt;
}

std::shared_ptr<const TrainedSizes> sizes_of(const store::RunReader& reader, std::int64_t search) {
  const auto found = sweep_of(reader, search);
  if (!found)
    return nullptr;
  const auto& [id, spec] = *found;
  auto sizes = std::make_shared<TrainedSizes>();
  sizes->sweep = id;
  sizes->goal = spec.goal.empty() ? "accuracy" : spec.goal;
  sizes->planned = combinations(spec).size();
  auto runs = compare::read_runs(reader, reader.runs_of_sweep(id));
  sizes->ended = static_cast<std::size_t>(std::count_if(runs.begin(), runs.end(), [](const compare::ComparedRun& run) {
    return !telemetry::is_open(run.row.outcome.status);
  }));
  sizes->answer = compare::answer(compare::Comparison(std::move(runs)), compare::parse_goal(sizes->goal, "goal"));
  return sizes;
}

} // namespace

GoalReader::GoalReader(std::filesystem::path database, QObject* parent)
    : QObject(parent), database_(std::move(database)) {}

void GoalReader::read(std::int64_t search) {
  task_.start([this, search](const LatestTask::Progress& progress) {
    try {
      const store::RunReader reader(database_);
      progress.post([this, search, sizes = sizes_of(reader, search)] { Q_EMIT was_read(search, sizes); });
    } catch (const std::exception&) {
      // A database that cannot be read is reported by all that reads runs.
    }
  });
}

} // namespace batchscope::ui

#include "moc_goal_reader.cpp"
