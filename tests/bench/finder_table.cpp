#include "finder_table.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/run/engine.h"
#include "core/run/session.h"

namespace batchscope::bench {

namespace {

struct Nowhere : telemetry::Sink {
  void record(const telemetry::StepRecord&) override {}
  void event(telemetry::Event) override {}
};

bool trains_at(run::RunSpec spec, std::int64_t batch) {
  spec.batch = {run::BatchChoice::Kind::number, batch};
  Nowhere nowhere;
  run::RunControl control;
  const auto session = run::open_session(spec);
  return session->run(nowhere, control).status == telemetry::RunStatus::finished;
}

} // namespace

FinderRow measure_finder(const std::string& model, const std::string& data, std::uint64_t budget) {
  run::RunSpec spec;
  spec.model = model;
  spec.data = data;
  spec.memory_budget = budget;
  spec.on_oom = run::OnOom::fail;
  spec.length = {.epochs = {}, .examples = {}, .steps = 2};
  FinderRow row{.model = model, .budget = budget};
  search::SearchResult result;
  std::int64_t bound = 0;
  {
    const auto session = run::open_session(spec);
    const auto begin = std::chrono::steady_clock::now();
    result = session->find({.timings = false});
    row.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    bound = session->largest_batch();
  }
  row.largest = result.largest.value_or(0);
  row.probes = static_cast<int>(result.probes.size());
  for (const auto* runs : {&result.probes, &result.checks}) {
    for (const search::Probe& probe : *runs) {
      if (probe.outcome == search::Outcome::out_of_memory)
        ++row.out_of_memory;
      else if (probe.predicted_bytes)
        row.worst_error = std::max(
            row.worst_error,
            std::abs(static_cast<double>(*probe.predicted_bytes) / static_cast<double>(*probe.peak_bytes) - 1));
    }
  }
  row.exact =
      result.found && trains_at(spec, row.largest) && (row.largest == bound || !trains_at(spec, row.largest + 1));
  return row;
}

} // namespace batchscope::bench
