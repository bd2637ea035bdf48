#include "ui/sweep/sweep_reader.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/error.h"
#include "core/run/spec_fields.h"
#include "core/store/run_reader.h"
#include "core/sweep/settings_key.h"
#include "ui/database/file_identity.h"

namespace batchscope::ui {

/// Data that were read of a sweep and do not change.
class SweepReader::Cache {
public:
  explicit Cache(std::filesystem::path file) : file_(std::move(file)) {}

  /// For another sweep, or another file in the place of the database, all is read anew.
  void begin(std::optional<std::int64_t> sweep) {
    const FileIdentity now = file_identity(file_);
    if (sweep == sweep_ && now == identity_)
      return;
    sweep_ = sweep;
    identity_ = now;
    runs_.clear();
    ended_.clear();
    combinations_ = {};
    spec_json_.clear();
  }

  std::shared_ptr<const SweepContent> content(const store::RunReader& reader) {
    std::string json;
    std::vector<std::int64_t> ids;
    std::vector<std::int64_t> waiting;
    reader.at_one_moment([&] {
      json = reader.sweep_json(*sweep_);
      ids = reader.runs_of_sweep(*sweep_);
      waiting = reader.waiting_runs(*sweep_);
      for (const std::int64_t id : ids)
        if (runs_.count(id) == 0)
          runs_.emplace(id, KnownRun{run::stored_spec(reader.spec_json(id)), sweep::settings_key_of(reader, id)});
    });
    if (json != spec_json_) {
      combinations_ = content_of(sweep::stored_sweep_from_json(json));
      keys_.clear();
      for (std::size_t i = 0; i < combinations_.entries.size(); ++i)
        keys_[sweep::settings_key(combinations_.entries[i].spec)] = i;
      spec_json_ = json;
    }
    return join(ids, waiting);
  }

  std::shared_ptr<const SweepAnswer> answer(const store::RunReader& reader, const compare::Goal& goal) {
    std::vector<compare::ComparedRun> runs;
    for (const std::int64_t id : reader.runs_of_sweep(*sweep_)) {
      auto known = ended_.find(id);
      if (known == ended_.end()) {
        auto read = compare::read_runs(reader, {id});
        if (telemetry::is_open(read.front().row.outcome.status)) {
          runs.push_back(std::move(read.front()));
          continue;
        }
        known = ended_.emplace(id, std::move(read.front())).first;
      }
      runs.push_back(known->second);
    }
    const compare::Comparison comparison(std::move(runs));
    auto answer = std::make_shared<SweepAnswer>();
    answer->answer = compare::answer(comparison, goal);
    for (const compare::Standing& standing : answer->answer.standings)
      if (standing.same_as_best)
        for (const std::size_t run : standing.group.runs)
          answer->ties.push_back(comparison.runs[run].row.id);
    return answer;
  }

private:
  struct KnownRun {
    std::optional<run::RunSpec> spec; ///< nothing for a run of another program
    std::string key;                  ///< see sweep::settings_key_of()
  };

  std::shared_ptr<const SweepContent> join(const std::vector<std::int64_t>& ids,
                                           const std::vector<std::int64_t>& waiting) {
    auto content = std::make_shared<SweepContent>(combinations_);
    content->sweep = sweep_;
    std::map<std::int64_t, std::size_t> entry_with;
    for (const std::int64_t id : ids) { // ascending: the newest attempt stays
      const auto& [spec, key] = runs_.at(id);
      if (!spec)
        continue;
      const auto found = keys_.find(key);
      if (found == keys_.end()) {
        entry_with[id] = content->entries.size();
        content->entries.push_back(entry_of(*spec, content->fields));
        content->entries.back().run = id;
      } else {
        content->entries[found->second].run = id;
        entry_with[id] = found->second;
      }
    }
    for (std::size_t place = 0; place < waiting.size(); ++place)
      if (const auto entry = entry_with.find(waiting[place]); entry != entry_with.end())
        content->entries[entry->second].place = place;
    return content;
  }

  const std::filesystem::path file_;
  std::optional<std::int64_t> sweep_;
  FileIdentity identity_;
  std::map<std::int64_t, KnownRun> runs_;
  std::map<std::int64_t, compare::ComparedRun> ended_;
  std::string spec_json_; ///< of combinations_
  SweepContent combinations_;
  std::map<std::string, std::size_t> keys_; ///< of combinations_, by sweep::settings_key()
};

SweepReader::SweepReader(std::filesystem::path database, QObject* parent)
    : QObject(parent), database_(std::move(database)), cache_(std::make_unique<Cache>(database_)) {}

SweepReader::~SweepReader() = default;

void SweepReader::read(std::optional<std::int64_t> sweep, const compare::Goal& goal) {
  next_ = Request{sweep, goal};
  if (!busy_)
    start();
}

void SweepReader::start() {
  busy_ = true;
  task_.start([this, request = *std::exchange(next_, std::nullopt)](const LatestTask::Progress& progress) {
    work(request, progress);
    progress.post([this] {
      busy_ = false;
      if (next_)
        start();
    });
  });
}

void SweepReader::work(const Request& request, const LatestTask::Progress& progress) {
  try {
    if (!std::filesystem::exists(database_) || std::filesystem::file_size(database_) == 0)
      return progress.post([this] { Q_EMIT listed({}); });
    const store::RunReader reader(database_);
    auto known = std::make_shared<std::vector<KnownSweep>>();
    for (const store::StoredSweep& stored : reader.sweeps()) {
      try {
        known->push_back(
            {stored.id, QString::fromStdString(stored.created), sweep::stored_sweep_from_json(stored.spec_json)});
      } catch (const Error&) {
        // From a newer version.
      }
    }
    progress.post([this, known] { Q_EMIT listed(*known); });
    if (!request.sweep)
      return;
    cache_->begin(request.sweep);
    progress.post([this, content = cache_->content(reader)] { Q_EMIT content_read(content); });
    progress.post([this, sweep = *request.sweep, answer = cache_->answer(reader, request.goal)] {
      Q_EMIT answered(sweep, answer);
    });
  } catch (const std::exception& error) {
    progress.post([this, sweep = request.sweep.value_or(0), what = QString::fromUtf8(error.what())] {
      Q_EMIT refused(sweep, what);
    });
  }
}

} // namespace batchscope::ui

#include "moc_sweep_reader.cpp"
