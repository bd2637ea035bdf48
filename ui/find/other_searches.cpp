#include "ui/find/other_searches.h"

#include <QGridLayout>

#include "ui/run/known_memory.h"
#include "ui/theme/theme.h"
#include "ui/widgets/format.h"

namespace batchscope::ui {

OtherSearches::OtherSearches(const Theme& theme, QWidget* parent)
    : Card(tr("Other ways to search"), parent), theme_(theme),
      none_(dimmed_label(tr("Choose another strategy and find again: what it comes to is shown here."), this)) {
  none_->setWordWrap(true);
  body()->addWidget(none_);
}

void OtherSearches::show_jobs(const QList<Job*>& jobs, const Job* shown) {
  delete rows_;
  rows_ = new QWidget(this);
  grid_ = new QGridLayout(rows_);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setColumnStretch(1, 1);
  grid_->setHorizontalSpacing(8);
  grid_->setVerticalSpacing(4);
  for (Job* job : jobs)
    if (shown != nullptr && job != shown && job->search_result() && same_trials(job->spec(), shown->spec()))
      add_row(job);
  none_->setVisible(grid_->isEmpty());
  rows_->setVisible(!grid_->isEmpty());
  body()->addWidget(rows_);
}

void OtherSearches::add_row(Job* job) {
  const search::SearchResult& result = *job->search_result();
  const int row = grid_->rowCount();
  auto* name = new QLabel(QStringLiteral("<a href=\"#\" style=\"color:%1;text-decoration:none\">%2</a>")
                              .arg(theme_.color(Role::accent).name(), QString::fromStdString(result.strategy)),
                          rows_);
  name->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
  name->setToolTip(tr("Shows this search again"));
  connect(
      name, &QLabel::linkActivated, this, [this, job] { Q_EMIT chosen(job); }, Qt::QueuedConnection);
  const QString answer = result.largest ? sequence_of(result.probes) : tr("nothing fits");
  const auto runs = result.probes.size();
  auto* count = new QLabel(
      tr("%1, %2 OOM").arg(runs == 1 ? tr("1 run") : tr("%1 runs").arg(runs)).arg(out_of_memory_runs(result.probes)),
      rows_);
  count->setToolTip(tr("Took %1").arg(format_duration(job->seconds())));
  QFont font = count->font();
  font.setWeight(QFont::DemiBold);
  count->setFont(font);
  grid_->addWidget(name, row, 0);
  grid_->addWidget(dimmed_label(answer, rows_), row, 1);
  grid_->addWidget(count, row, 2, Qt::AlignRight);
}

} // namespace batchscope::ui
