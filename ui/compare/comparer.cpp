#include "ui/compare/comparer.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/error.h"
#include "core/store/run_reader.h"
#include "core/telemetry/outcome.h"

namespace batchscope::ui {

namespace {

constexpr std::size_t at_once = 100; ///< runs that are read in one transaction, between two looks at newer requests

/// Value of the last point at or before the step; nothing if there is none.
std::optional<double> value_at(const std::vector<store::Point>& points, std::int64_t step) {
  const auto after = std::upper_bound(points.begin(), points.end(), step,
                                      [](std::int64_t at, const store::Point& point) { return at < point.step; });
  return after == points.begin() ? std::nullopt : std::optional(std::prev(after)->value);
}

std::vector<std::pair<SeriesAt, double>> values_of(const store::RunReader& reader, std::int64_t id,
                                                   const std::vector<store::SeriesSummary>& series,
                                                   const std::vector<SeriesAt>& wanted) {
  std::vector<std::pair<SeriesAt, double>> values;
  for (const SeriesAt& at : wanted) {
    const bool there = std::any_of(series.begin(), series.end(),
                                   [&](const store::SeriesSummary& each) { return each.name == at.series; });
    if (const auto value = there ? value_at(reader.series(id, at.series), at.step) : std::nullopt)
      values.emplace_back(at, *value);
  }
  return values;
}

} // namespace

/// The runs that were read, by number; those of one file.
class Comparer::Cache {
public:
  explicit Cache(std::filesystem::path database) : database_(std::move(database)) {}

  /// Reads what is not known yet of `count` rows from `first` on, and brings all of them up to date.
  void read(const std::vector<store::RunRow>& rows, std::size_t first, std::size_t count,
            const std::vector<SeriesAt>& wanted, std::vector<ReadRun>& runs) {
    std::vector<std::int64_t> missing;
    for (std::size_t i = first; i < first + count; ++i)
      if (!is_known(rows[i], wanted))
        missing.push_back(rows[i].id);
    if (!missing.empty())
      read_missing(missing, wanted);
    for (std::size_t i = first; i < first + count; ++i)
      if (const auto found = runs_.find(rows[i].id); found != runs_.end()) {
        runs.push_back(found->second.read);
        runs.back().run.row = rows[i];
      }
  }

private:
  struct Known {
    ReadRun read;
    std::vector<SeriesAt> wanted;
  };

  bool is_known(const store::RunRow& row, const std::vector<SeriesAt>& wanted) const {
    const auto found = runs_.find(row.id);
    if (found == runs_.end() || row.outcome.status == telemetry::RunStatus::running || found->second.wanted != wanted)
      return false;
    const store::RunRow& before = found->second.read.run.row;
    return before.uid == row.uid && before.outcome.status == row.outcome.status &&
           before.outcome.steps == row.outcome.steps;
  }

  void read_missing(const std::vector<std::int64_t>& ids, const std::vector<SeriesAt>& wanted) {
    if (!reader_)
      reader_ = std::make_unique<store::RunReader>(database_);
    reader_->at_one_moment([&] {
      std::vector<std::int64_t> there;
      for (const store::RunRow& row : reader_->present(ids))
        there.push_back(row.id);
      for (compare::ComparedRun& run : compare::read_runs(*reader_, there)) {
        Known known{{.run = std::move(run), .series = {}, .values = {}}, wanted};
        const std::int64_t id = known.read.run.row.id;
        known.read.series = reader_->summaries(id);
        known.read.values = values_of(*reader_, id, known.read.series, wanted);
        runs_[id] = std::move(known);
      }
    });
  }

  const std::filesystem::path database_;
  std::unique_ptr<store::RunReader> reader_;
  std::unordered_map<std::int64_t, Known> runs_;
};

Comparer::Comparer(std::filesystem::path database, QObject* parent)
    : QObject(parent), database_(std::move(database)), cache_(std::make_shared<Cache>(database_)) {}

Comparer::~Comparer() = default;

void Comparer::compare(std::vector<store::RunRow> rows, std::vector<SeriesAt> values) {
  reading_.start([this, rows = std::move(rows), values = std::move(values)](const LatestTask::Progress& progress) {
    try {
      std::vector<ReadRun> runs;
      for (std::size_t first = 0; first < rows.size(); first += at_once) {
        if (progress.replaced())
          return;
        if (first > 0)
          progress.post([this, first, all = rows.size()] { Q_EMIT reading(int(first), int(all)); });
        cache_->read(rows, first, std::min(at_once, rows.size() - first), values, runs);
      }
      auto comparison = std::make_shared<const Comparison>(make_comparison(runs));
      progress.post([this, comparison] { Q_EMIT compared(comparison); });
    } catch (const Error& error) {
      cache_ = std::make_shared<Cache>(database_); // the file may be another one by now
      progress.post([this, text = QString::fromUtf8(error.what())] { Q_EMIT problem(text); });
    }
  });
}

void Comparer::answer(std::shared_ptr<const Comparison> comparison, std::vector<std::size_t> runs,
                      const compare::Goal& goal) {
  answering_.start(
      [this, comparison = std::move(comparison), runs = std::move(runs), goal](const LatestTask::Progress& progress) {
        const auto& compared = comparison->compared;
        std::vector<compare::ComparedRun> some;
        if (runs.size() < compared.runs.size())
          for (const std::size_t run : runs)
            some.push_back(compared.runs[run]);
        const compare::Answer answer = some.empty() ? compare::answer(compared, goal)
                                                    : compare::answer(compare::Comparison(std::move(some)), goal);
        progress.post([this, answer] { Q_EMIT answered(answer); });
      });
}

} // namespace batchscope::ui

#include "moc_comparer.cpp"
