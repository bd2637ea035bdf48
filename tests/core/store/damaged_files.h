#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>

#include "core/exchange/export.h"
#include "core/store/care/care.h"
#include "core/store/run_reader.h"
#include "core/store/sweep_queue.h"
#include "core/telemetry/outcome_fields.h"
#include "store_test.h"
#include "tests/test_events.h"

// Databases with flipped bits and cut ends, and what a reader gets from them.
namespace batchscope::store::test {

/// A small closed database with something of everything: sealed and unsealed points, events, a sweep with a waiting
/// run, a search, a view, tags, a deleted run, and a run whose process was killed.
inline void make_small_database(const std::filesystem::path& file) {
  {
    RunStore store(file);
    const std::int64_t sweep = store.add_sweep(R"({"vary": {"batch": [16, 32]}})");
    store.add_search(R"({"model": "cnn"})", R"({"largest": 64, "probes": []})");
    store.save_view("by memory", R"({"columns": ["peak_bytes"]})");
    for (const char* name : {"one", "two"}) {
      NewRun run = new_run(name);
      run.sweep = sweep;
      run.start_json = R"({"batch":16})";
      run.environment_json = R"({"program":"1"})";
      auto writer = store.begin(run);
      for (std::int64_t step = 1; step <= 1200; ++step)
        writer->sink().record(record_at(step));
      writer->sink().event(
          batchscope::test::event_of(7, 0.5, "evaluation", R"({"loss":0.5})", {{"validation_loss", 0.5}}));
      auto end = outcome(telemetry::RunStatus::finished);
      end.loss = 0.25;
      end.batch = 16;
      writer->finish(end);
    }
    store.set_note(1, "a note");
    store.add_tags({1}, {"best"});
    SweepQueue(store, sweep).add({{.name = "waits", .spec_json = R"({"batch": 64})"}});
    store.set_deleted({store.add_finished(new_run("gone"), outcome(telemetry::RunStatus::failed))}, true);
    auto open = store.begin(new_run("open"));
    for (std::int64_t step = 1; step <= 50; ++step)
      open->sink().record(record_at(step));
    store.flush();
    std::filesystem::copy_file(file, file.string() + ".copy"); // with its log: as a killed process leaves it
    std::filesystem::copy_file(file.string() + "-wal", file.string() + ".copy-wal");
    open->finish(outcome(telemetry::RunStatus::stopped));
  }
  for (const char* ending : {"", "-wal"})
    std::filesystem::rename(file.string() + ".copy" + ending, file.string() + ending);
  std::filesystem::remove(file.string() + "-ledger");
  // Without free pages, and without a log: each byte is of use.
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("PRAGMA wal_checkpoint(TRUNCATE); VACUUM");
}

inline std::string bytes_in(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline void write_bytes_to(const std::filesystem::path& file, const std::string& bytes) {
  for (const char* ending : {"-wal", "-shm", "-ledger"})
    std::filesystem::remove(file.string() + ending);
  std::ofstream(file, std::ios::binary) << bytes;
}

/// All that a reader gets, as one text. Throws Error.
inline std::string all_read(const std::filesystem::path& file) {
  const RunReader reader(file);
  std::string text;
  const auto add = [&](const auto&... parts) { ((text += parts, text += '\n'), ...); };
  std::vector<RunRow> rows = reader.list();
  for (const RunRow& row : rows) {
    add(std::to_string(row.id), row.uid, row.name, row.note, row.started, std::to_string(row.workers),
        json_text(Json(row.tags)), std::to_string(row.sweep.value_or(-1)), json_text(telemetry::to_json(row.outcome)),
        reader.spec_json(row.id), reader.start_json(row.id), reader.environment_json(row.id));
    for (const telemetry::Event& event : reader.events(row.id))
      add(std::to_string(event.step), std::to_string(event.seconds), batchscope::test::kind_text(event),
          batchscope::test::detail_text(event));
    for (const SeriesSummary& series : reader.summaries(row.id)) {
      add(series.name, std::to_string(series.count), std::to_string(series.last), std::to_string(series.min));
      for (const Point& point : reader.series(row.id, series.name))
        text.append(reinterpret_cast<const char*>(&point), sizeof point);
    }
    if (row.sweep)
      add(reader.sweep_json(*row.sweep));
  }
  for (const RunRow& row : reader.deleted())
    add(row.name, row.uid, std::to_string(row.id));
  for (const StoredSearch& search : reader.searches())
    add(std::to_string(search.id), search.created, search.spec_json, search.result_json);
  for (const SavedView& view : reader.views())
    add(view.name, view.created, view.content_json);
  return text;
}

/// Flips one to three bits, or cuts the end off.
inline std::string damaged(std::string bytes, std::mt19937& random) {
  if (random() % 10 == 0) {
    bytes.resize(random() % bytes.size());
    return bytes;
  }
  for (unsigned flips = 1 + random() % 3; flips > 0; --flips) {
    char& byte = bytes[random() % bytes.size()];
    byte = static_cast<char>(byte ^ 1 << random() % 8);
  }
  return bytes;
}

/// How many files were damaged, how many of them the check calls sound, and how many of those read back otherwise than
/// the original: the number that must be 0.
struct DamageFound {
  int files = 0;
  int sound = 0;
  std::vector<std::string> wrong; ///< which
};

inline DamageFound try_damage(const std::filesystem::path& folder, unsigned seed, int files) {
  std::mt19937 random(seed);
  const auto original = folder / "original.db";
  make_small_database(original);
  const std::string whole = bytes_in(original);
  const std::string expected = all_read(original);
  DamageFound found;
  const auto file = folder / "damaged.db";
  for (; found.files < files; ++found.files) {
    write_bytes_to(file, damaged(whole, random));
    try {
      if (!RunReader(file).check().empty())
        continue;
      ++found.sound;
      if (all_read(file) != expected)
        found.wrong.push_back("file " + std::to_string(found.files) + " of seed " + std::to_string(seed));
    } catch (const Error&) {
      if (std::string error = error_of([&] { RunReader(file).check(); }); error.empty())
        found.wrong.push_back("file " + std::to_string(found.files) + " of seed " + std::to_string(seed) +
                              " cannot be read");
    }
  }
  return found;
}

/// What a repaired file has that the original did not have, one line each.
inline std::vector<std::string> invented(const std::filesystem::path& file, const std::filesystem::path& original) {
  std::vector<std::string> lines;
  const RunReader before(original);
  const RunReader after(file);
  std::map<std::int64_t, RunRow> known;
  for (const RunRow& row : before.list())
    known[row.id] = row;
  for (const RunRow& row : after.list()) {
    if (!known.contains(row.id)) {
      lines.push_back("run " + std::to_string(row.id));
      continue;
    }
    const RunRow& old = known[row.id];
    if ((row.name != old.name && !row.name.empty()) || (row.note != old.note && !row.note.empty()))
      lines.push_back("texts of run " + std::to_string(row.id));
    if (const auto spec = after.spec_json(row.id); spec != "{}" && spec != before.spec_json(row.id))
      lines.push_back("spec of run " + std::to_string(row.id));
    const auto names = before.series_names(row.id);
    for (const std::string& name : after.series_names(row.id)) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        lines.push_back("series " + name);
        continue;
      }
      std::map<std::int64_t, double> points;
      for (const Point& point : before.series(row.id, name))
        points[point.step] = point.value;
      for (const Point& point : after.series(row.id, name))
        if (!points.contains(point.step) || !same(points[point.step], point.value))
          lines.push_back("a point of " + name);
    }
  }
  return lines;
}

struct RepairsTried {
  int repaired = 0;
  int unreadable = 0;  ///< files in which nothing can be read
  std::string problem; ///< the first; empty: none
};

/// Repairs damaged files: each is sound then, has nothing that was not stored, and everything if it is said to.
inline RepairsTried try_repairs(const std::filesystem::path& folder, unsigned seed, int files) {
  const auto original = folder / "original.db";
  make_small_database(original);
  const std::string whole = bytes_in(original);
  const std::string expected = all_read(original);
  const auto file = folder / "damaged.db";
  std::mt19937 random(seed);
  RepairsTried tried;
  const auto problem = [&](int number, const std::string& text) {
    tried.problem = "file " + std::to_string(number) + " of seed " + std::to_string(seed) + ": " + text;
    return tried;
  };
  for (int number = 0; number < files; ++number) {
    write_bytes_to(file, damaged(whole, random));
    bool sound = false;
    if (error_of([&] { sound = RunReader(file).check().empty(); }).empty() && sound)
      continue;
    RepairReport report;
    if (const std::string error = error_of([&] { report = repair(file); }); !error.empty()) {
      if (error.find("nothing in it can be read") == std::string::npos)
        return problem(number, error);
      ++tried.unreadable;
      continue;
    }
    ++tried.repaired;
    for (const char* ending : {"", "-wal"})
      std::filesystem::remove(report.backup.string() + ending);
    if (const auto damage = RunReader(file).check(); !damage.empty())
      return problem(number, "still damaged: " + damage.front());
    if (const auto lines = invented(file, original); !lines.empty())
      return problem(number, "was not stored: " + lines.front());
    if (report.lost.empty() && all_read(file) != expected)
      return problem(number, "more is lost than was said");
  }
  return tried;
}

} // namespace batchscope::store::test
