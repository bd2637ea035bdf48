#pragma once

#include <cmath>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/run/run_start.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/store/sweep_queue.h"
#include "core/sweep/settings_key.h"
#include "core/sweep/sweep.h"

namespace batchscope::test {

/// A sweep in a database, whose runs come to what their settings say, without any training. Waiting runs stay, and a
/// run that trains does so as long as this lives.
class MadeSweep {
public:
  /// `finished`: how many of the runs have ended.
  MadeSweep(const std::filesystem::path& file, const sweep::SweepSpec& spec, std::size_t finished = 0)
      : store_file_(file), store_(file), id_(add(spec, finished)), queue_(store_, id_) {
    std::vector<store::WaitingRun> waiting;
    for (const run::RunSpec& run : combinations(spec))
      waiting.push_back(
          {.id = 0, .name = run.name, .spec_json = run::to_json(run), .settings_key = sweep::settings_key(run)});
    queue_.add_missing_keys([](const std::string& stored) { return sweep::settings_key_of(stored); });
    queue_.add(waiting);
  }

  std::int64_t id() const { return id_; }

  /// The next run trains: it has made so many of its steps.
  void train(std::int64_t steps) {
    training_ = begin_next();
    for (std::int64_t step = 1; step <= steps; ++step) {
      telemetry::StepRecord record;
      record.step = step;
      record.loss = 2.0 / static_cast<double>(step + 1);
      record.seconds = 0.1 * static_cast<double>(step);
      record.batch = training_->spec.batch.number;
      record.examples_seen = record.batch * step;
      record.epoch = 0.01 * static_cast<double>(step);
      record.peak_bytes = peak_of(training_->spec);
      training_->writer->sink().record(record);
    }
    store_.flush();
  }
  void withdraw() { queue_.withdraw(); }
  /// Sent to the run that trains.
  std::vector<std::string> commands() {
    const std::lock_guard lock(mutex_);
    return commands_;
  }

  static std::uint64_t peak_of(const run::RunSpec& spec) {
    return 2'300'000 + static_cast<std::uint64_t>(spec.batch.number) * 470'000;
  }
  /// Best at batch 64 and rate 0.003; seeds scatter by 0.2 %.
  static double accuracy_of(const run::RunSpec& spec) {
    const double batch = std::log2(static_cast<double>(spec.batch.number) / 64);
    const double rate = std::log10(run::learning_rate_or_default(spec) / 0.003);
    const double chance = std::sin(static_cast<double>(spec.seed) * 12.9 + batch * 7 + rate * 31);
    return 0.982 - 0.003 * batch * batch - 0.024 * rate * rate - 0.2 * spec.dropout * spec.dropout + 0.002 * chance;
  }

private:
  struct Begun {
    run::RunSpec spec;
    std::unique_ptr<store::RunWriter> writer;
  };

  std::unique_ptr<Begun> begin_next() {
    const auto claim = queue_.claim([](const auto&, const auto&) -> std::optional<std::uint64_t> { return 0; });
    auto begun = std::make_unique<Begun>();
    begun->spec = run::run_spec_from_json(claim.run->spec_json);
    store::NewRun run;
    run.name = claim.run->name;
    run.spec_json = claim.run->spec_json;
    run.sweep = id_;
    run.claimed = claim.run->id;
    run::RunStart start;
    start.batch = begun->spec.batch.number;
    start.train_examples = 8000;
    start.expected_steps = 126;
    run.start_json = run::to_json(start);
    run.on_command = [this](const store::Command& command) {
      const std::lock_guard lock(mutex_);
      commands_.push_back(command.verb);
    };
    begun->writer = store_.begin(run);
    return begun;
  }

  std::int64_t add(const sweep::SweepSpec& spec, std::size_t finished) {
    if (finished == 0)
      return store_.add_sweep(sweep::to_json(spec));
    std::vector<store::CompleteRun> runs;
    for (const run::RunSpec& run : combinations(spec)) {
      if (runs.size() == finished)
        break;
      static int made = 0; // uids are unique in a database
      const std::string number = std::to_string(++made);
      runs.push_back({.uid = std::string(32 - number.size(), '0') + number,
                      .name = run.name,
                      .note = {},
                      .started = "2026-11-02T10:00:00Z",
                      .spec_json = run::to_json(run),
                      .sweep = 0,
                      .outcome = outcome_of(run),
                      .events = {},
                      .series = {}});
    }
    const auto added = store_.add_complete(runs, {sweep::to_json(spec)});
    return *store::RunReader(store_file_).run(added.front().id).sweep;
  }

  /// Those whose dropout is above 0.85 run out of memory.
  static telemetry::RunOutcome outcome_of(const run::RunSpec& spec) {
    telemetry::RunOutcome outcome;
    if (spec.dropout > 0.85) {
      outcome.status = telemetry::RunStatus::failed;
      outcome.reason = "out of memory at step 3";
      outcome.oom_events = 1;
      return outcome;
    }
    outcome.status = telemetry::RunStatus::finished;
    outcome.batch = spec.batch.number;
    outcome.steps = 126;
    outcome.peak_bytes = peak_of(spec);
    outcome.seconds = 6 + 300.0 / static_cast<double>(spec.batch.number);
    outcome.examples_per_second = 16'000 / outcome.seconds;
    outcome.validation_accuracy = accuracy_of(spec);
    outcome.validation_loss = 2 * (1 - *outcome.validation_accuracy);
    outcome.oom_events = spec.batch.number > 200 && spec.learning_rate == 0.001 ? 2 : 0;
    return outcome;
  }

  std::mutex mutex_;
  std::vector<std::string> commands_; ///< guarded by mutex_
  const std::filesystem::path store_file_;
  store::RunStore store_;
  std::int64_t id_;
  store::SweepQueue queue_;
  std::unique_ptr<Begun> training_;
};

/// 5 batch sizes, 3 rates and 3 seeds, unless they are others.
inline sweep::SweepSpec grid_spec(const std::string& batches = "16,32,64,128,206",
                                  const std::string& rates = "0.001,0.003,0.01", std::int64_t repeats = 3) {
  sweep::SweepSpec spec;
  spec.base.memory_budget = 100'000'000;
  spec.base.length = {.epochs = 2, .examples = std::nullopt, .steps = std::nullopt};
  if (!batches.empty())
    spec.vary.push_back(sweep::parse_values("batch", batches));
  if (!rates.empty())
    spec.vary.push_back(sweep::parse_values("lr", rates));
  spec.repeats = repeats;
  return spec;
}

} // namespace batchscope::test
