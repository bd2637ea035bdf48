#include "ui/compare/compare_header.h"

#include <QAction>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QVBoxLayout>

#include "ui/compare/comparison_view.h"
#include "ui/findings/findings_button.h"
#include "ui/theme/theme.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/goal_box.h"

namespace batchscope::ui {

namespace {

constexpr int header_gap = 10;

QPushButton* menu_button(const QString& text, QMenu* menu) {
  QPushButton* button = plain_button(text);
  button->setMenu(menu);
  return button;
}

} // namespace

CompareHeader::CompareHeader(ComparisonView& view, QAction* report, QWidget* parent)
    : QWidget(parent), view_(view), scope_(new QComboBox(this)), count_(new Pill(this)),
      findings_(new FindingsButton(this)), filter_(new QLineEdit(this)), goal_(new GoalBox(this)),
      grouping_(new QComboBox(this)), export_menu_(new QMenu(tr("Export"), this)),
      views_menu_(new QMenu(tr("Views"), this)) {
  scope_->setAccessibleName(tr("Runs to compare"));
  scope_->setObjectName(QStringLiteral("scope"));
  scope_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  scope_->addItem(tr("All runs"));
  filter_->setPlaceholderText(tr("Filter: words, or batch >= 64 and accuracy > 97%"));
  filter_->setAccessibleName(tr("Filter"));
  filter_->setObjectName(QStringLiteral("compare-filter"));
  filter_->setClearButtonEnabled(true);
  filter_->setMinimumWidth(Theme::lines(9));
  grouping_->setAccessibleName(tr("Group runs by"));
  grouping_->setObjectName(QStringLiteral("grouping"));
  auto* export_button = menu_button(tr("Export"), export_menu_);
  auto* views_button = menu_button(tr("Views"), views_menu_);
  auto* report_button = filled_button({});
  bind(report_button, report);

  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  rows->setSpacing(header_gap);
  auto* first = new QHBoxLayout;
  first->setSpacing(header_gap);
  first->addWidget(page_title(tr("Compare"), this));
  first->addWidget(scope_);
  first->addWidget(count_);
  first->addWidget(findings_);
  first->addStretch();
  first->addWidget(views_button);
  first->addWidget(export_button);
  first->addWidget(report_button);
  auto* second = new QHBoxLayout;
  second->setSpacing(header_gap);
  second->addWidget(dimmed_label(tr("Goal"), this));
  second->addWidget(goal_);
  second->addWidget(filter_, 1);
  second->addWidget(dimmed_label(tr("Group by"), this));
  second->addWidget(grouping_);
  second_row_ = second;
  rows->addLayout(first);
  rows->addLayout(second);

  fill_groupings();
  connect(scope_, &QComboBox::activated, this, &CompareHeader::scope_changed);
  connect(filter_, &QLineEdit::textChanged, this, &CompareHeader::filter_changed);
  connect(goal_, &GoalBox::changed, this, &CompareHeader::goal_changed);
  connect(grouping_, &QComboBox::activated, this, [this] {
    wanted_grouping_ = grouping_->currentData().toString();
    Q_EMIT grouping_changed();
  });
  connect(&view, &ComparisonView::comparison_changed, this, [this] {
    fill_groupings();
    show_count();
  });
  connect(&view, &ComparisonView::visible_changed, this, &CompareHeader::show_count);
  connect(&view, &ComparisonView::marks_changed, this, &CompareHeader::show_count);
}

void CompareHeader::set_columns_menu(QMenu* menu) {
  second_row_->addWidget(menu_button(tr("Columns"), menu));
}

RunScope CompareHeader::scope() const {
  const QVariant data = scope_->currentData();
  if (!data.isValid())
    return {};
  if (data.toLongLong() == 0)
    return chosen_;
  return {.kind = RunScope::Kind::sweep, .sweep = data.toLongLong(), .runs = {}};
}

void CompareHeader::set_scope(const RunScope& scope) {
  if (scope.kind == RunScope::Kind::chosen)
    chosen_ = scope;
  const QVariant wanted = scope.kind == RunScope::Kind::all     ? QVariant()
                          : scope.kind == RunScope::Kind::sweep ? QVariant(qint64(scope.sweep))
                                                                : QVariant(qint64(0));
  if (wanted.isValid() && scope_->findData(wanted) < 0)
    scope_->insertItem(1,
                       scope.kind == RunScope::Kind::sweep ? tr("Sweep %1").arg(scope.sweep)
                                                           : tr("Chosen runs (%1)").arg(scope.runs.size()),
                       wanted);
  else if (scope.kind == RunScope::Kind::chosen)
    scope_->setItemText(scope_->findData(wanted), tr("Chosen runs (%1)").arg(scope.runs.size()));
  scope_->setCurrentIndex(wanted.isValid() ? scope_->findData(wanted) : 0);
}

void CompareHeader::set_sweeps(const std::vector<std::pair<std::int64_t, int>>& sweeps) {
  QList<std::pair<QString, QVariant>> items{{tr("All runs"), QVariant()}};
  if (chosen_.kind == RunScope::Kind::chosen)
    items.append({tr("Chosen runs (%1)").arg(chosen_.runs.size()), qint64(0)});
  for (const auto& [sweep, runs] : sweeps)
    items.append({tr("Sweep %1 (%n runs)", nullptr, runs).arg(sweep), qint64(sweep)});
  bool same = items.size() == scope_->count();
  for (int i = 0; same && i < scope_->count(); ++i)
    same = scope_->itemText(i) == items[i].first;
  if (same)
    return;
  const RunScope now = scope();
  scope_->clear();
  for (const auto& [text, data] : std::as_const(items))
    scope_->addItem(text, data);
  set_scope(now);
}

void CompareHeader::show_filter_error(const QString& error) {
  mark_wrong(*filter_, !error.isEmpty());
  filter_->setToolTip(
      error.isEmpty()
          ? tr("Words to search for, or comparisons joined by \"and\" and \"or\", such as peak < 90MB. Fields: %1")
                .arg(CompareFilter::fields(view_.comparison()).mid(0, 60).join(QStringLiteral(", ")))
          : error);
}

void CompareHeader::show_count() {
  const auto all = std::ssize(view_.comparison().runs());
  const auto visible = std::ssize(view_.visible());
  const qint64 marked = view_.marking() ? std::ssize(view_.emphasized()) : 0;
  const QString shown = all == 1         ? tr("1 run")
                        : visible == all ? tr("%1 runs").arg(format_count(all))
                                         : tr("%1 of %2 runs").arg(format_count(visible), format_count(all));
  count_->show_text(marked > 0 ? tr("%1, %2 marked").arg(shown, format_count(marked)) : shown, Pill::Tone::accent);
}

void CompareHeader::fill_groupings() {
  const QString now = wanted_grouping_;
  grouping_->clear();
  grouping_->addItem(tr("nothing"), QString());
  grouping_->addItem(tr("repeats"), QStringLiteral("repeats"));
  const auto& comparison = view_.comparison();
  for (const CompareField& field : comparison.fields)
    if (field.origin == CompareField::Origin::setting && field.different > 1 &&
        field.different < std::ssize(comparison.runs()))
      grouping_->addItem(field.title, field.key);
  grouping_->setCurrentIndex(std::max(0, grouping_->findData(now)));
}

QString CompareHeader::grouping() const {
  return grouping_->currentData().toString();
}

void CompareHeader::set_grouping(const QString& field) {
  wanted_grouping_ = field;
  fill_groupings();
}

} // namespace batchscope::ui

#include "moc_compare_header.cpp"
