#include "core/store/sweep_queue.h"

#include <algorithm>
#include <set>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "core/store/detail/ownership.h"
#include "core/store/detail/run_rows.h"
#include "core/store/detail/run_store_impl.h"
#include "core/store/file/detail/sql.h"

namespace batchscope::store {

namespace {

using detail::execute;
using detail::prepare;
using SQLite::Database;
using SQLite::Statement;

constexpr const char* waits = detail::run_waits;
constexpr const char* in_order = detail::waiting_order;
/// SQL expression with the same value for all runs with the same settings.
constexpr const char* key = "coalesce(settings_key, spec)";

/// Marks the sweep's runs whose process is gone; the process keeps its row, which tells of its unclean exit.
void mark_interrupted(Database& database, std::int64_t sweep) {
  auto open = prepare(database,
                      "SELECT run.id, host, boot, pid, process.started FROM run JOIN process ON process.id = "
                      "run.process WHERE sweep = ? AND status IN ('queued', 'running')",
                      sweep);
  std::vector<std::int64_t> gone;
  while (open.executeStep())
    if (detail::is_gone(detail::read_process(open, 1)))
      gone.push_back(open.getColumn(0).getInt64());
  Statement mark(database, "UPDATE run SET status = 'interrupted', process = NULL WHERE id = ?");
  for (const std::int64_t run : gone)
    execute(mark, run);
}

std::int64_t insert_waiting(Database& database, std::int64_t sweep, const std::string& uid, const WaitingRun& run) {
  NewRun row;
  row.name = run.name;
  row.status = telemetry::RunStatus::queued;
  row.spec_json = run.spec_json;
  row.sweep = sweep;
  row.settings_key = run.settings_key;
  return detail::insert_run(database, row, uid, std::nullopt);
}

/// Reads a row of a query of number, name, spec and key.
WaitingRun waiting_run(Statement& query) {
  return {.id = query.getColumn(0).getInt64(),
          .name = query.getColumn(1),
          .spec_json = query.getColumn(2),
          .settings_key = query.getColumn(3)};
}

/// Interrupted runs of which no other attempt waits, runs or has ended in another way: the newest attempt of each.
std::vector<std::pair<WaitingRun, double>> to_be_made_again(Database& database, std::int64_t sweep) {
  auto query = prepare(
      database,
      fmt::format(
          "SELECT max(id), name, spec, coalesce(settings_key, ''), coalesce(position, id) FROM run WHERE sweep = ?1 "
          "AND deleted IS NULL AND {0} IN (SELECT {0} FROM run WHERE sweep = ?1 AND status = 'interrupted' AND deleted "
          "IS NULL) GROUP BY {0} HAVING min(status = 'interrupted') = 1 AND count(*) < ?2",
          key),
      sweep, SweepQueue::max_attempts);
  std::vector<std::pair<WaitingRun, double>> runs;
  while (query.executeStep())
    runs.push_back({waiting_run(query), query.getColumn(4).getDouble()});
  return runs;
}

/// Keys of the runs that need not be made again.
std::set<std::string> keys_in_hand(Database& database, std::int64_t sweep) {
  auto query = prepare(database,
                       fmt::format("SELECT {} FROM run WHERE sweep = ? AND deleted IS NULL AND (status IN ('queued', "
                                   "'running', 'finished', 'failed') OR (status = 'stopped' AND reason <> ''))",
                                   key),
                       sweep);
  std::set<std::string> keys;
  while (query.executeStep())
    keys.insert(query.getColumn(0));
  return keys;
}

std::vector<WaitingRun> runs_without_key(Database& database, std::int64_t sweep) {
  auto query = prepare(database, "SELECT id, name, spec, '' FROM run WHERE sweep = ? AND settings_key IS NULL", sweep);
  std::vector<WaitingRun> runs;
  while (query.executeStep())
    runs.push_back(waiting_run(query));
  return runs;
}

void set_position(Database& database, std::int64_t run, double position) {
  execute(database, "UPDATE run SET position = ? WHERE id = ?", position, run);
}

SweepQueue::Load load_of(Database& database, std::int64_t sweep) {
  auto query = prepare(database,
                       "SELECT count(*), coalesce(sum(reserved_bytes), 0) FROM run WHERE sweep = ? AND status IN "
                       "('queued', 'running') AND process IS NOT NULL",
                       sweep);
  query.executeStep();
  return {.open = query.getColumn(0).getInt64(),
          .reserved_bytes = static_cast<std::uint64_t>(query.getColumn(1).getInt64())};
}

/// The waiting run that `choose` takes first, and what it reserves.
std::optional<std::pair<WaitingRun, std::uint64_t>>
choose_from(Database& database, std::int64_t sweep, const SweepQueue::Load& load, const SweepQueue::Choose& choose) {
  auto query =
      prepare(database,
              fmt::format("SELECT id, name, spec, coalesce(settings_key, '') FROM run WHERE sweep = ? AND {} {}", waits,
                          in_order),
              sweep);
  while (query.executeStep()) {
    WaitingRun run = waiting_run(query);
    if (const auto bytes = choose(run, load))
      return std::pair(std::move(run), *bytes);
  }
  return std::nullopt;
}

std::int64_t count_waiting(Database& database, std::int64_t sweep) {
  return *detail::find_integer(database, fmt::format("SELECT count(*) FROM run WHERE sweep = ? AND {}", waits), sweep);
}

/// How many train at the same time, in all of them: the times of runs are comparable only if each trained alone.
void note_workers(Database& database, std::int64_t sweep, std::int64_t workers) {
  execute(database,
          "UPDATE run SET workers = ?1 WHERE sweep = ?2 AND workers < ?1 AND process IS NOT NULL AND status IN "
          "('queued', 'running')",
          workers, sweep);
}

} // namespace

void SweepQueue::add_missing_keys(const KeyOf& key_of) {
  store_.impl_->writer.change([&](Database& database) {
    Statement update(database, "UPDATE run SET settings_key = ? WHERE id = ?");
    for (const WaitingRun& run : runs_without_key(database, sweep_)) {
      if (const auto found = key_of(run.spec_json))
        execute(update, *found, run.id);
    }
    return std::int64_t{0};
  });
}

std::int64_t SweepQueue::add(const std::vector<WaitingRun>& runs) {
  auto& writer = store_.impl_->writer;
  return writer.change([&](Database& database) {
    mark_interrupted(database, sweep_);
    std::set<std::string> there = keys_in_hand(database, sweep_);
    std::int64_t added = 0;
    for (const WaitingRun& run : runs) {
      if (!there.insert(run.settings_key.empty() ? run.spec_json : run.settings_key).second)
        continue;
      const std::string uid = detail::new_uid();
      writer.added(uid, insert_waiting(database, sweep_, uid, run));
      ++added;
    }
    return added;
  });
}

SweepQueue::Claim SweepQueue::claim(const Choose& choose) {
  Claim claim;
  auto& writer = store_.impl_->writer;
  writer.change([&](Database& database) {
    claim = {};
    mark_interrupted(database, sweep_);
    for (const auto& [run, position] : to_be_made_again(database, sweep_)) {
      const std::string uid = detail::new_uid();
      const std::int64_t id = insert_waiting(database, sweep_, uid, run);
      set_position(database, id, position);
      writer.added(uid, id);
    }
    const Load load = load_of(database, sweep_);
    claim.open = load.open;
    if (auto chosen = choose_from(database, sweep_, load, choose)) {
      execute(database, "UPDATE run SET process = ?, reserved_bytes = ? WHERE id = ?", writer.process(),
              static_cast<std::int64_t>(chosen->second), chosen->first.id);
      note_workers(database, sweep_, load.open + 1);
      claim.run = std::move(chosen->first);
    }
    claim.waiting = count_waiting(database, sweep_);
    return std::int64_t{0};
  });
  return claim;
}

std::vector<std::pair<std::int64_t, std::string>> SweepQueue::begun() {
  std::vector<std::pair<std::int64_t, std::string>> runs;
  store_.impl_->writer.change([&](Database& database) {
    runs.clear();
    auto query = prepare(
        database,
        fmt::format("SELECT id, {} FROM run WHERE sweep = ? AND deleted IS NULL AND status <> 'queued' ORDER BY id",
                    key),
        sweep_);
    while (query.executeStep())
      runs.emplace_back(query.getColumn(0).getInt64(), query.getColumn(1));
    return std::int64_t{0};
  });
  return runs;
}

void SweepQueue::release(std::int64_t run) {
  auto& writer = store_.impl_->writer;
  writer.change([&](Database& database) {
    execute(database,
            "UPDATE run SET process = NULL, reserved_bytes = 0 WHERE id = ? AND process = ? AND status = 'queued'", run,
            writer.process());
    return run;
  });
}

std::int64_t SweepQueue::skip(const std::vector<std::int64_t>& runs, const std::string& reason) {
  return store_.impl_->writer.change([&](Database& database) {
    Statement update(database, fmt::format("UPDATE run SET status = 'stopped', reason = ? WHERE id = ? AND sweep = ? "
                                           "AND {}",
                                           waits));
    std::int64_t ended = 0;
    for (const std::int64_t run : runs)
      ended += execute(update, reason, run, sweep_);
    return ended;
  });
}

void SweepQueue::withdraw() {
  auto& writer = store_.impl_->writer;
  writer.change([&](Database& database) {
    mark_interrupted(database, sweep_);
    if (load_of(database, sweep_).open > 0)
      return sweep_;
    std::vector<std::string> uids;
    auto query = prepare(database, fmt::format("DELETE FROM run WHERE sweep = ? AND {} RETURNING uid", waits), sweep_);
    while (query.executeStep())
      uids.push_back(query.getColumn(0));
    writer.purging(uids);
    return sweep_;
  });
}

void SweepQueue::move(std::int64_t run, std::optional<std::int64_t> before) {
  store_.impl_->writer.change([&](Database& database) {
    std::vector<std::int64_t> order = detail::waiting_runs(database, sweep_);
    const auto from = std::find(order.begin(), order.end(), run);
    if (from == order.end() || run == before)
      return run;
    order.erase(from);
    order.insert(before ? std::find(order.begin(), order.end(), *before) : order.end(), run);
    // From 1 on: below the numbers of runs that are added later, which stand for their positions.
    double position = 0;
    for (const std::int64_t id : order)
      set_position(database, id, position += 1);
    return run;
  });
}

} // namespace batchscope::store
