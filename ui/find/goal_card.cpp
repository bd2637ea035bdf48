#include "ui/find/goal_card.h"

#include <QGridLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "core/sweep/size_sweep.h"
#include "ui/theme/theme.h"
#include "ui/widgets/format.h"
#include "ui/workbench/goal_box.h"

namespace batchscope::ui {

namespace {

QString list_of(const std::vector<std::int64_t>& sizes) {
  QStringList texts;
  for (const std::int64_t size : sizes)
    texts << format_count(size);
  return texts.join(QStringLiteral(", "));
}

/// Result of the runs of a size: `95.80 % ± 0.40 over 3 seeds`.
QString result_of(const compare::Standing& standing, const compare::Goal& goal) {
  if (!standing.text.empty())
    return QString::fromStdString(standing.text);
  return goal.kind == compare::Goal::Kind::target ? GoalCard::tr("not reached") : QStringLiteral("–");
}

} // namespace

GoalCard::GoalCard(QWidget* parent)
    : Card(tr("Best size for a goal"), parent), goal_(new GoalBox(this)),
      train_(plain_button(tr("Train the sizes"), this)), about_(dimmed_label({}, this)), answer_(new QLabel(this)),
      table_(new QWidget(this)), cells_(new QGridLayout(table_)), compare_(plain_button(tr("Compare its runs"), this)) {
  goal_->remove_throughput(); // the search has measured it
  about_->setWordWrap(true);
  answer_->setWordWrap(true);
  answer_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  answer_->setObjectName(QStringLiteral("goal-answer"));
  about_->setObjectName(QStringLiteral("goal-about"));
  compare_->setObjectName(QStringLiteral("compare-sizes"));
  train_->setObjectName(QStringLiteral("train-sizes"));
  table_->setObjectName(QStringLiteral("goal-sizes"));
  cells_->setContentsMargins(0, 0, 0, 0);
  cells_->setHorizontalSpacing(Theme::lines(1));
  cells_->setColumnStretch(2, 1);
  auto* row = new QHBoxLayout;
  row->addWidget(goal_);
  row->addStretch(1);
  row->addWidget(train_);
  body()->addLayout(row);
  body()->addWidget(about_);
  body()->addWidget(answer_);
  body()->addWidget(table_);
  body()->addWidget(compare_, 0, Qt::AlignLeft);
  connect(goal_, &GoalBox::changed, this, &GoalCard::show_offer);
  connect(train_, &QPushButton::clicked, this, [this] { Q_EMIT training_wanted(goal_->text()); });
  connect(compare_, &QPushButton::clicked, this, [this] {
    if (sizes_)
      Q_EMIT comparison_wanted(sizes_->sweep);
  });
}

void GoalCard::show_search(const SearchView& view, const QString& why_not) {
  offered_ = view.found() ? sweep::sizes_to_train(*view.result) : std::vector<std::int64_t>();
  why_not_ = why_not;
  setVisible(!offered_.empty());
  show_offer();
}

void GoalCard::show_sizes(std::shared_ptr<const TrainedSizes> sizes) {
  if (sizes && (!sizes_ || sizes->sweep != sizes_->sweep))
    goal_->set_text(QString::fromStdString(sizes->goal));
  sizes_ = std::move(sizes);
  show_offer();
}

void GoalCard::show_offer() {
  const auto goal = goal_->goal();
  train_->setEnabled(goal && why_not_.isEmpty());
  train_->setToolTip(!why_not_.isEmpty() ? why_not_
                     : goal              ? tr("Train %1 with three seeds each, as a sweep").arg(list_of(offered_))
                                         : tr("Enter a goal: a score such as 97% or a time such as 2min."));
  about_->setVisible(!sizes_);
  about_->setText(tr("The recommended size is the one with the best throughput. To see which size trains best, %1 are "
                     "trained with three seeds each.")
                      .arg(list_of(offered_)));
  answer_->setVisible(sizes_ != nullptr);
  table_->setVisible(sizes_ != nullptr);
  compare_->setVisible(sizes_ != nullptr && sizes_->ended > 1);
  if (!sizes_)
    return;
  const QString text = QString::fromStdString(sizes_->answer.text);
  answer_->setText(sizes_->ended < sizes_->planned
                       ? tr("%1 of %2 runs have ended. %3").arg(sizes_->ended).arg(sizes_->planned).arg(text)
                       : text);
  fill_table();
}

void GoalCard::fill_table() {
  while (QLayoutItem* item = cells_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  const auto goal = compare::parse_goal(sizes_->goal, "goal");
  int row = 0;
  for (const compare::Standing& standing : sizes_->answer.standings) {
    if (!standing.group.batch)
      continue;
    const bool chosen = standing.group.batch == sizes_->answer.batch;
    const QStringList texts{format_count(*standing.group.batch), result_of(standing, goal),
                            chosen                  ? tr("recommended")
                            : standing.same_as_best ? tr("no clear difference")
                                                    : QString()};
    for (int column = 0; column < texts.size(); ++column) {
      auto* label = new QLabel(texts[column], table_);
      label->setFont(figures_font(label->font()));
      label->setProperty("tone", chosen ? QStringLiteral("good") : column == 2 ? QStringLiteral("dimmed") : QString());
      cells_->addWidget(label, row, column, column == 0 ? Qt::AlignRight : Qt::AlignLeft);
    }
    ++row;
  }
}

} // namespace batchscope::ui

#include "moc_goal_card.cpp"
