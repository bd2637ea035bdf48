#pragma once

#include <numeric>
#include <string>

#include <QTest>

#include "core/data/dataset.h"
#include "core/memory/device.h"
#include "core/run/engine.h"
#include "core/train/detail/learner.h"
#include "run_helpers.h"

/// What every device has to keep, the same checks for all of them. Functions for test slots.
namespace batchscope::test {

/// A model of which a few hundred examples fit into the budget, on images.
inline run::RunSpec conformance_spec(const std::string& device, std::int64_t batch, std::int64_t steps) {
  run::RunSpec spec = small_spec(batch, steps);
  spec.device = device;
  spec.model = "cnn:width=32";
  spec.data = "synthetic:examples=2500,shape=3x32x32,classes=4";
  spec.memory_budget = 200'000'000;
  return spec;
}

/// After an out-of-memory error the bytes in use are exactly what they were, and the next step succeeds.
inline void returnsToTheBaseline(const std::string& name, int times) {
  const run::RunSpec spec = conformance_spec(name, 8, 1);
  const auto device = memory::open_device(name, spec.memory_budget);
  train::Learner learner(spec, data::open_data(spec.data), *device);
  std::vector<std::int64_t> indices(2000);
  std::iota(indices.begin(), indices.end(), 0);
  const train::MicroBatch all(indices);
  QVERIFY(!learner.attempt({all.first(8)}).out_of_memory);
  learner.update(0.001, 0.0, std::nullopt);
  const memory::Readings before = device->readings();
  for (int i = 0; i < times; ++i) {
    QVERIFY(learner.attempt({all.first(8), all}).out_of_memory);
    QCOMPARE(device->readings().in_use, before.in_use);
  }
  QVERIFY(device->readings().refused > before.refused);
  QVERIFY(!learner.attempt({all.first(8)}).out_of_memory);
  learner.update(0.001, 0.0, std::nullopt);
  QCOMPARE(device->readings().in_use, before.in_use);
}

/// Readings make sense while a run goes on, and stay within the limit.
inline void readsWithinTheLimit(const std::string& name) {
  const FinishedRun finished = run_to_end(conformance_spec(name, 32, 10));
  QVERIFY2(finished.outcome.status == telemetry::RunStatus::finished, finished.outcome.reason.c_str());
  for (const auto& record : finished.recorded.records) {
    QVERIFY(record.allocated_bytes > 0 && record.allocated_bytes <= record.reserved_bytes);
    QVERIFY(record.peak_bytes >= record.allocated_bytes && record.peak_bytes <= 200'000'000);
  }
}

/// The largest size that the finder names trains; one more does not.
inline void findsTheExactLargestSize(const std::string& name) {
  run::RunSpec spec = conformance_spec(name, 1, 2);
  spec.on_oom = run::OnOom::fail;
  std::int64_t largest = 0;
  {
    const auto session = run::open_session(spec);
    largest = session->find({.timings = false}).largest.value_or(0);
  }
  QVERIFY(largest > 1 && largest < 2000);
  spec.batch.number = largest;
  QVERIFY(run_to_end(spec).outcome.status == telemetry::RunStatus::finished);
  spec.batch.number = largest + 1;
  QVERIFY(run_to_end(spec).outcome.status == telemetry::RunStatus::failed);
}

/// A run that meets out-of-memory errors computes what one with room does.
inline void rollsBackWithoutATrace(const std::string& name) {
  run::RunSpec spec = conformance_spec(name, 50, 12);
  spec.schedule = "piecewise:0=50,6=1500";
  const FinishedRun tight = run_to_end(spec);
  spec.memory_budget = 4'000'000'000;
  const FinishedRun roomy = run_to_end(spec);
  QVERIFY(tight.outcome.oom_events > 0);
  QCOMPARE(roomy.outcome.oom_events, std::int64_t{0});
  QCOMPARE(tight.recorded.records.size(), roomy.recorded.records.size());
  for (std::size_t i = 0; i < roomy.recorded.records.size(); ++i) {
    const double a = tight.recorded.records[i].loss;
    const double b = roomy.recorded.records[i].loss;
    QVERIFY2(std::abs(a - b) <= 1e-3 * std::abs(b), qPrintable(QStringLiteral("step %1").arg(i + 1)));
    QCOMPARE(tight.recorded.records[i].examples_seen, roomy.recorded.records[i].examples_seen);
  }
}

} // namespace batchscope::test
