#include "ui/find/known_search.h"

#include <QDateTime>
#include <QFileInfo>
#include <QLocale>

#include <algorithm>
#include <set>

#include "core/run/spec_keys.h"
#include "ui/texts/spec_texts.h"
#include "ui/widgets/format.h"
#include "ui/workbench/known_prediction.h"

namespace batchscope::ui {

namespace {

QString tr(const char* text) {
  return QObject::tr(text);
}

/// `cnn:width=32,norm=group` becomes `cnn width 32 norm group`.
QString readable(const std::string& text) {
  QString readable = QString::fromStdString(text);
  for (const QChar c : {QChar(':'), QChar(','), QChar('=')})
    readable.replace(c, ' ');
  return readable;
}

/// A data text without the folders of its files.
QString short_data(const std::string& text) {
  if (text == "demo")
    return tr("demo images");
  const QString data = QString::fromStdString(text);
  return data.contains(u'/') ? QFileInfo(data.section(u':', 1)).fileName() : data;
}

QString budget_of(const run::RunSpec& spec) {
  return spec.memory_budget ? tr("budget %1").arg(format_bytes(static_cast<double>(*spec.memory_budget)))
                            : tr("80 % of free memory");
}

QString when(const KnownSearch& search) {
  if (!search.stored)
    return tr("in this session");
  const QDateTime at = QDateTime::fromString(search.stored->created, Qt::ISODate).toLocalTime();
  return at.isValid() ? QLocale().toString(at, QLocale::ShortFormat) : search.stored->created;
}

QString probes_text(const search::SearchResult& result) {
  const std::size_t probes = result.probes.size();
  const QString count = probes == 1 ? tr("1 probe") : tr("%1 probes").arg(probes);
  return tr("%1, %2 OOM").arg(count).arg(out_of_memory_runs(result.probes));
}

QString tip_of(const KnownSearch& search) {
  return tr("Show this search: %1; %2, %3, took %4")
      .arg(described(search.spec()).join(QStringLiteral(", ")), QString::fromStdString(search.result().strategy),
           when(search), format_duration(search.result().seconds));
}

/// Text for a search that found no answer.
QString no_answer(const search::SearchResult& result) {
  return result.interrupted ? tr("stopped") : tr("nothing fits");
}

QString answer_text(const search::SearchResult& result) {
  if (!result.found)
    return no_answer(result);
  return format_count((result.recommended ? result.recommended : result.largest).value_or(0));
}

} // namespace

const run::RunSpec& KnownSearch::spec() const {
  return job ? job->spec() : stored->spec;
}

const search::SearchResult& KnownSearch::result() const {
  return job ? *job->search_result() : *stored->result;
}

std::optional<std::int64_t> KnownSearch::id() const {
  if (job)
    return job->stored_search();
  return stored ? std::optional(stored->id) : std::nullopt;
}

std::string KnownSearch::trials() const {
  return job ? run::trial_key(job->spec()) : stored->trials;
}

SearchView KnownSearch::view() const {
  return job ? view_of(*job) : view_of(*stored);
}

QList<KnownSearch> known_searches(Workbench& workbench) {
  std::set<std::int64_t> of_this_sitting;
  for (const Job* job : workbench.job_queue().jobs())
    if (job->search_result() && job->stored_search())
      of_this_sitting.insert(*job->stored_search());
  QList<KnownSearch> searches;
  for (const auto& stored : workbench.run_database().searches())
    if (!of_this_sitting.contains(stored->id))
      searches << KnownSearch{nullptr, stored};
  for (Job* job : workbench.job_queue().jobs())
    if (job->search_result())
      searches << KnownSearch{job, nullptr};
  return searches;
}

SearchRows rows_beside(const QList<KnownSearch>& all, const KnownSearch& shown) {
  SearchRows rows;
  if (!shown)
    return rows;
  const std::string trials = shown.trials();
  for (const KnownSearch& search : all) {
    if (search == shown)
      continue;
    const search::SearchResult& result = search.result();
    const QString strategy = QString::fromStdString(result.strategy);
    if (search.trials() == trials) {
      rows.same << SearchRow{search, strategy, result.found ? sequence_of(result.probes) : no_answer(result),
                             probes_text(result), tip_of(search)};
      continue;
    }
    const run::RunSpec& spec = search.spec();
    const QStringList with = spec.program ? QStringList{budget_of(spec), strategy}
                                          : QStringList{short_data(spec.data), budget_of(spec), strategy};
    rows.others << SearchRow{search, spec.program ? subject_of(spec) : readable(spec.model),
                             with.join(QStringLiteral(", ")), answer_text(result), tip_of(search)};
  }
  std::ranges::reverse(rows.others);
  return rows;
}

QStringList described(const run::RunSpec& spec) {
  if (spec.program)
    return {QString::fromStdString(run::command_text(*spec.program)), budget_of(spec)};
  return {readable(spec.model), short_data(spec.data), QString::fromStdString(spec.optimizer),
          QStringLiteral("%1, %2").arg(QString::fromStdString(spec.device), budget_of(spec))};
}

} // namespace batchscope::ui
