#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/run/engine.h"
#include "core/run/session.h"
#include "core/telemetry/record.h"
#include "tests/test_events.h"

/// Runs of the tests: everything that a run reports, kept in memory.
struct Recorded : batchscope::telemetry::Sink {
  std::vector<batchscope::telemetry::StepRecord> records;
  std::vector<batchscope::telemetry::Event> events;

  void record(const batchscope::telemetry::StepRecord& record) override { records.push_back(record); }
  void event(batchscope::telemetry::Event event) override { events.push_back(std::move(event)); }

  std::vector<batchscope::Json> details(const std::string& kind) const {
    std::vector<batchscope::Json> found;
    for (const auto& event : events) {
      if (batchscope::test::kind_text(event) == kind)
        found.push_back(batchscope::parse_json(batchscope::test::detail_text(event)));
    }
    return found;
  }
};

/// How far a is from b, relative to b.
inline double relative(double a, double b) {
  return std::abs(a - b) / std::max(std::abs(b), 1e-12);
}

struct FinishedRun {
  batchscope::telemetry::RunOutcome outcome;
  Recorded recorded;
};

inline FinishedRun run_to_end(const batchscope::run::RunSpec& spec) {
  FinishedRun finished;
  batchscope::run::RunControl control;
  const auto session = batchscope::run::open_session(spec);
  finished.outcome = session->run(finished.recorded, control);
  return finished;
}

/// A small run on made-up images that takes milliseconds a step.
inline batchscope::run::RunSpec small_spec(std::int64_t batch, std::int64_t steps) {
  batchscope::run::RunSpec spec;
  spec.model = "cnn:width=8";
  spec.data = "synthetic:examples=625,shape=1x16x16,classes=4"; // 500 to train, 125 to validate
  spec.memory_budget = 400'000'000;
  spec.batch = {batchscope::run::BatchChoice::Kind::number, batch};
  spec.length = {.epochs = {}, .examples = {}, .steps = steps};
  return spec;
}
