#pragma once

#include <QString>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/run/run_spec.h"
#include "core/run/run_start.h"
#include "core/search/finder.h"
#include "core/store/run_row.h"
#include "core/telemetry/record.h"

// Values that the window reads from a run database, handed from the database's thread to the UI thread.
namespace batchscope::ui {

/// A stored run without its records.
struct StoredRun {
  store::RunRow row;
  std::optional<run::RunSpec> spec; ///< nothing for a run of another program
  std::optional<run::RunStart> start;
  std::string output; ///< the last of a program that failed; empty if it is not known
};

/// A stored search.
struct StoredSearch {
  std::int64_t id = 0;
  QString created; ///< UTC, ISO 8601
  run::RunSpec spec;
  std::string trials; ///< run::trial_key() of the spec
  std::shared_ptr<const search::SearchResult> result;
};

/// Part of a run that is read from its beginning on.
struct RunBatch {
  std::vector<telemetry::StepRecord> records;
  std::vector<telemetry::Event> events;
  store::RunRow row;
  bool complete = false; ///< contains everything stored so far
  QString error;         ///< the run cannot be read; no more batches follow
};

} // namespace batchscope::ui
