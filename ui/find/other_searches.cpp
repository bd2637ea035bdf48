#include "ui/find/other_searches.h"

#include <QGridLayout>
#include <QToolButton>

#include "ui/run/known_memory.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

OtherSearches::OtherSearches(QWidget* parent)
    : Card(tr("Other ways to search"), parent),
      none_(dimmed_label(tr("Choose another strategy and find again: what it comes to is shown here."), this)) {
  none_->setWordWrap(true);
  body()->addWidget(none_);
}

void OtherSearches::show_jobs(const QList<Job*>& jobs, const Job* shown) {
  QList<Job*> listed;
  for (Job* job : jobs)
    if (shown != nullptr && job != shown && job->search_result() && same_trials(job->spec(), shown->spec()))
      listed << job;
  if (listed == listed_)
    return;
  listed_ = listed;
  make_rows();
}

void OtherSearches::make_rows() {
  const bool keyboard_here = rows_ != nullptr && rows_->isAncestorOf(window()->focusWidget());
  delete rows_;
  rows_ = new QWidget(this);
  auto* grid = new QGridLayout(rows_);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setColumnStretch(1, 1);
  grid->setHorizontalSpacing(8);
  grid->setVerticalSpacing(4);
  QToolButton* first = nullptr;
  for (Job* job : listed_) {
    QToolButton* name = add_row(*grid, job);
    first = first != nullptr ? first : name;
  }
  body()->addWidget(rows_);
  rows_->setVisible(first != nullptr);
  none_->setVisible(first == nullptr);
  if (keyboard_here && first != nullptr)
    first->setFocus();
}

QToolButton* OtherSearches::add_row(QGridLayout& grid, Job* job) {
  const search::SearchResult& result = *job->search_result();
  const int row = grid.rowCount();
  auto* name = new QToolButton(rows_);
  name->setText(QString::fromStdString(result.strategy));
  name->setObjectName(QStringLiteral("search"));
  name->setToolTip(tr("Shows this search again"));
  // The row goes away with that, and must not do so within its own event.
  connect(
      name, &QToolButton::clicked, this, [this, job] { Q_EMIT chosen(job); }, Qt::QueuedConnection);
  const auto runs = result.probes.size();
  auto* count = new QLabel(
      tr("%1, %2 OOM").arg(runs == 1 ? tr("1 run") : tr("%1 runs").arg(runs)).arg(out_of_memory_runs(result.probes)),
      rows_);
  count->setToolTip(tr("Took %1").arg(format_duration(job->seconds())));
  count->setProperty("kind", QStringLiteral("value"));
  grid.addWidget(name, row, 0);
  grid.addWidget(dimmed_label(result.largest ? sequence_of(result.probes) : tr("nothing fits"), rows_), row, 1);
  grid.addWidget(count, row, 2, Qt::AlignRight);
  return name;
}

} // namespace batchscope::ui
