#pragma once

#include <QString>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/predict/peak_curve.h"
#include "core/run/run_spec.h"
#include "core/search/finder.h"
#include "ui/database/run_database.h"
#include "ui/jobs/job_queue.h"

namespace batchscope::ui {

/// The current state of a search, as all parts of the page show it.
struct SearchView {
  run::RunSpec spec;
  QString strategy;
  Job::State state = Job::State::waiting;
  QString error;           ///< of a failed search
  std::string error_field; ///< see Job::error_field()
  QString activity;        ///< of a running search
  std::vector<search::Probe> probes;
  std::vector<search::Probe> checks; ///< trials that determined the safe size
  std::vector<search::Timing> timings;
  std::optional<predict::PeakCurve> memory;
  std::uint64_t budget = 0; ///< bytes; 0 if unknown yet
  std::shared_ptr<const search::SearchResult> result;
  double margin = 0.2;
  double seconds = 0;

  bool working() const { return state == Job::State::working || state == Job::State::waiting; }
  bool found() const { return result && result->found; }
  /// The size that `--batch auto` takes, if it is less than the recommended size: a small data set.
  std::optional<std::int64_t> held_back() const;
};

/// The view of a search of this session of the program, and of one from the database.
SearchView view_of(const Job& job);
SearchView view_of(const StoredSearch& search);

/// A row of the table: a size that was run, or the next size above the answer, which was not.
struct ProbeRow {
  enum class Result { fits, out_of_memory, failed, not_run };
  int number = 0; ///< number of the trial, from 1; 0: not run
  std::int64_t batch = 0;
  std::optional<std::uint64_t> predicted;
  std::optional<std::uint64_t> real;
  Result result = Result::fits;
  bool check = false; ///< determined the safe size; not one of the strategy's trials
  QString message;    ///< of a failed trial

  bool operator==(const ProbeRow&) const = default;
};
std::vector<ProbeRow> rows_of(const SearchView& view);

/// An answer of the search: its label in a plot (`largest`, `safe`, `recommended`, `auto`) and its size.
struct NamedAnswer {
  QString name;
  std::int64_t batch = 0;
};
std::vector<NamedAnswer> answers_of(const SearchView& view);

/// Peak of a step at a size: measured if known, else predicted.
struct KnownPeak {
  std::uint64_t bytes = 0;
  bool measured = false;
};
std::optional<KnownPeak> peak_at(const SearchView& view, std::int64_t batch);

/// Whether a measured peak is above the budget of the size that fits: of a program on the host, whose libraries the
/// budget does not count.
bool above_budget(const SearchView& view, const KnownPeak& peak);
/// Largest size so far that ran and fitted.
std::optional<std::int64_t> largest_so_far(const SearchView& view);
int out_of_memory_runs(const std::vector<search::Probe>& probes);
/// `2 4 8 ... 269`
QString sequence_of(const std::vector<search::Probe>& probes);

} // namespace batchscope::ui
