#include "ui/find/search_view.h"

#include <QStringList>

#include <algorithm>

namespace batchscope::ui {

namespace {

ProbeRow row_of(const search::Probe& probe, int number, bool check) {
  ProbeRow row;
  row.number = number;
  row.batch = probe.batch;
  row.predicted = probe.predicted_bytes;
  row.check = check;
  switch (probe.outcome) {
  case search::Outcome::fits:
    row.real = probe.peak_bytes;
    break;
  case search::Outcome::out_of_memory: // bytes in use at the failure are not what the size needs
    row.result = ProbeRow::Result::out_of_memory;
    break;
  case search::Outcome::error:
    row.result = ProbeRow::Result::failed;
    row.message = QString::fromStdString(probe.message);
    break;
  }
  return row;
}

/// The size above the answer, if it was not run because the prediction says that it needs too much.
std::optional<ProbeRow> row_not_run(const SearchView& view, const std::vector<ProbeRow>& rows) {
  if (!view.found() || !view.result->largest || !view.memory || view.budget == 0)
    return std::nullopt;
  ProbeRow row;
  row.batch = *view.result->largest + 1;
  row.predicted = view.memory->at(row.batch).bytes;
  row.result = ProbeRow::Result::not_run;
  const bool was_run =
      std::any_of(rows.begin(), rows.end(), [&](const ProbeRow& other) { return other.batch == row.batch; });
  return was_run || *row.predicted <= view.budget ? std::nullopt : std::optional(row);
}

std::vector<search::Timing> in_order(std::vector<search::Timing> timings) {
  std::sort(timings.begin(), timings.end(), [](const auto& a, const auto& b) { return a.batch < b.batch; });
  return timings;
}

SearchView view_of_result(const run::RunSpec& spec, const std::shared_ptr<const search::SearchResult>& result) {
  SearchView view;
  view.spec = spec;
  view.strategy = QString::fromStdString(result->strategy);
  view.state = Job::State::done;
  view.probes = result->probes;
  view.checks = result->checks;
  view.timings = in_order(result->timings);
  view.memory = result->memory;
  view.budget = result->budget_bytes.value_or(0);
  view.result = result;
  view.margin = spec.margin;
  view.seconds = result->seconds;
  return view;
}

} // namespace

std::optional<std::int64_t> SearchView::held_back() const {
  const bool less = found() && result->recommended && result->automatic != result->recommended;
  return less ? result->automatic : std::nullopt;
}

SearchView view_of(const Job& job) {
  if (const auto& result = job.search_result()) {
    // A demo or a run goes on after its search.
    SearchView view = view_of_result(job.spec(), result);
    view.memory = view.memory ? view.memory : job.predicted();
    view.budget = view.budget > 0 ? view.budget : job.budget_bytes();
    return view;
  }
  SearchView view;
  view.spec = job.spec();
  view.strategy = job.strategy();
  view.state = job.state();
  view.error = job.error();
  view.error_field = job.error_field();
  view.activity = job.activity();
  view.probes = job.probes();
  view.timings = in_order(job.timings());
  view.memory = job.predicted();
  view.budget = job.budget_bytes();
  view.margin = job.spec().margin;
  view.seconds = job.seconds();
  return view;
}

SearchView view_of(const StoredSearch& search) {
  return view_of_result(search.spec, search.result);
}

std::vector<ProbeRow> rows_of(const SearchView& view) {
  std::vector<ProbeRow> rows;
  for (const search::Probe& probe : view.probes)
    rows.push_back(row_of(probe, static_cast<int>(rows.size()) + 1, false));
  for (const search::Probe& probe : view.checks)
    rows.push_back(row_of(probe, static_cast<int>(rows.size()) + 1, true));
  if (const auto above = row_not_run(view, rows))
    rows.push_back(*above);
  return rows;
}

std::vector<NamedAnswer> answers_of(const SearchView& view) {
  std::vector<NamedAnswer> answers;
  if (!view.found())
    return answers;
  if (view.result->largest)
    answers.push_back(
        {view.result->largest_is_exact ? QObject::tr("largest") : QObject::tr("largest tried"), *view.result->largest});
  if (view.result->safe)
    answers.push_back({QObject::tr("safe"), *view.result->safe});
  if (view.result->recommended)
    answers.push_back({QObject::tr("recommended"), *view.result->recommended});
  if (const auto held_back = view.held_back())
    answers.push_back({QObject::tr("auto"), *held_back});
  return answers;
}

std::optional<KnownPeak> peak_at(const SearchView& view, std::int64_t batch) {
  for (const auto* runs : {&view.probes, &view.checks})
    for (const search::Probe& probe : *runs)
      if (probe.batch == batch && probe.outcome == search::Outcome::fits && probe.peak_bytes)
        return KnownPeak{*probe.peak_bytes, true};
  if (view.memory)
    return KnownPeak{view.memory->at(batch).bytes, false};
  return std::nullopt;
}

bool above_budget(const SearchView& view, const KnownPeak& peak) {
  return peak.measured && view.budget > 0 && peak.bytes > view.budget;
}

std::optional<std::int64_t> largest_so_far(const SearchView& view) {
  std::optional<std::int64_t> largest;
  for (const search::Probe& probe : view.probes)
    if (probe.outcome == search::Outcome::fits)
      largest = std::max(largest.value_or(0), probe.batch);
  return largest;
}

int out_of_memory_runs(const std::vector<search::Probe>& probes) {
  return static_cast<int>(std::count_if(probes.begin(), probes.end(), [](const search::Probe& probe) {
    return probe.outcome == search::Outcome::out_of_memory;
  }));
}

QString sequence_of(const std::vector<search::Probe>& probes) {
  constexpr std::size_t shown_first = 3;
  QStringList parts;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (i == shown_first && probes.size() > shown_first + 1)
      parts << QStringLiteral("…");
    if (i < shown_first || i + 1 == probes.size())
      parts << QString::number(probes[i].batch);
  }
  return parts.join(' ');
}

} // namespace batchscope::ui
