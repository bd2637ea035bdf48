#include "ui/workbench/goal_box.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>

#include "core/base/error.h"
#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

GoalBox::GoalBox(QWidget* parent) : QWidget(parent), kind_(new QComboBox(this)), value_(new QLineEdit(this)) {
  kind_->addItem(tr("Best final accuracy"), QStringLiteral("accuracy"));
  kind_->addItem(tr("Best throughput"), QStringLiteral("throughput"));
  kind_->addItem(tr("Shortest time to a score"), QStringLiteral("target"));
  kind_->addItem(tr("Best within a time"), QStringLiteral("time"));
  kind_->setAccessibleName(tr("Goal"));
  kind_->setObjectName(QStringLiteral("goal"));
  kind_->setToolTip(tr("What to optimize for"));
  value_->setObjectName(QStringLiteral("goal-value"));
  value_->setMaximumWidth(Theme::lines(5));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(kind_);
  row->addWidget(value_);
  connect(kind_, &QComboBox::activated, this, [this] {
    value_->setText(kind_->currentData() == QLatin1String("target") ? tr("95%") : tr("1min"));
    show_value();
    Q_EMIT changed();
  });
  connect(value_, &QLineEdit::textEdited, this, [this] {
    show_value();
    Q_EMIT changed();
  });
  show_value();
}

QString GoalBox::text() const {
  const QString kind = kind_->currentData().toString();
  return kind == QLatin1String("target") || kind == QLatin1String("time") ? kind + u':' + value_->text().trimmed()
                                                                          : kind;
}

std::optional<compare::Goal> GoalBox::goal() const {
  try {
    return compare::parse_goal(text().toStdString(), "Goal");
  } catch (const Error&) {
    return std::nullopt;
  }
}

void GoalBox::set_text(const QString& text) {
  const int index = kind_->findData(text.section(u':', 0, 0));
  kind_->setCurrentIndex(std::max(0, index));
  value_->setText(text.section(u':', 1));
  show_value();
}

void GoalBox::remove_throughput() {
  kind_->removeItem(kind_->findData(QStringLiteral("throughput")));
}

void GoalBox::show_value() {
  const QString kind = kind_->currentData().toString();
  const bool target = kind == QLatin1String("target");
  value_->setVisible(target || kind == QLatin1String("time"));
  value_->setAccessibleName(target ? tr("Score to reach") : tr("Time"));
  value_->setToolTip(target ? tr("A validation accuracy such as 97%, or a validation loss if the runs have no accuracy")
                            : tr("A duration: 90s, 2min, 1h"));
  mark_wrong(*value_, !goal());
}

} // namespace batchscope::ui

#include "moc_goal_box.cpp"
