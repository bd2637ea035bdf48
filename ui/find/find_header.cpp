#include "ui/find/find_header.h"

#include <QAbstractItemView>
#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QCoreApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>

#include "core/search/strategy.h"
#include "ui/find/chip_row.h"
#include "ui/theme/theme.h"
#include "ui/widgets/elide.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr double longest_chip = 22; ///< lines of text; a command may be much longer

/// "binary: double until out of memory, then bisect: exact, several errors"
QString strategy_help(const search::Strategy& strategy) {
  return QStringLiteral("%1: %2").arg(QString::fromUtf8(strategy.name),
                                      QCoreApplication::translate("Strategy", strategy.help));
}

} // namespace

FindHeader::FindHeader(const Actions& actions, QWidget* parent)
    : QWidget(parent), setup_(actions.setup), chips_(new ChipRow(this)), change_(plain_button(tr("Change…"), this)),
      activity_(dimmed_label({}, this)), log_(new QCheckBox(tr("Log scale"), this)), strategy_(new QComboBox(this)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  row->addWidget(page_title(tr("Find the batch size"), this));
  row->addWidget(chips_);
  change_->setObjectName(QStringLiteral("change"));
  connect(change_, &QPushButton::clicked, setup_, &QAction::trigger);
  connect(setup_, &QAction::toggled, change_, &QPushButton::setChecked);
  row->addWidget(change_);
  show_change(false);
  row->addStretch(1);
  activity_->setMinimumWidth(1); // texts must fit the window, not enlarge it
  row->addWidget(activity_);
  log_->setToolTip(actions.log->toolTip());
  connect(log_, &QCheckBox::clicked, actions.log, &QAction::setChecked);
  connect(actions.log, &QAction::toggled, log_, &QCheckBox::setChecked);
  row->addWidget(log_);
  make_strategies();
  row->addWidget(strategy_);
  cancel_ = bind(plain_button(tr("Stop search"), this), actions.cancel, "cancel");
  row->addWidget(cancel_);
  find_ = bind(filled_button(tr("Find again"), this), actions.find, "find");
  row->addWidget(find_);
}

void FindHeader::make_strategies() {
  QStringList helps;
  for (const search::Strategy* strategy : search::strategies()) {
    strategy_->addItem(QString::fromUtf8(strategy->name));
    helps << strategy_help(*strategy);
    strategy_->setItemData(strategy_->count() - 1, helps.last(), Qt::ToolTipRole);
  }
  strategy_->setCurrentText(QStringLiteral("predictive"));
  strategy_->setItemDelegate(new ListTextDelegate(Qt::ToolTipRole, strategy_));
  strategy_->view()->setMinimumWidth(strategy_->view()->sizeHintForColumn(0) + Theme::lines(2));
  strategy_->setObjectName(QStringLiteral("strategy"));
  strategy_->setAccessibleName(tr("Strategy"));
  strategy_->setToolTip(tr("Search strategy\n%1").arg(helps.join(u'\n')));
  connect(strategy_, &QComboBox::currentTextChanged, this, &FindHeader::strategy_chosen);
}

QPushButton* FindHeader::bind(QPushButton* button, QAction* action, const char* name) {
  button->setObjectName(QLatin1String(name));
  button->setToolTip(action->toolTip());
  connect(button, &QPushButton::clicked, action, &QAction::trigger);
  return button;
}

void FindHeader::show_settings(const QStringList& settings, bool program) {
  const QStringList names = program
                                ? QStringList{tr("Program"), tr("Memory budget")}
                                : QStringList{tr("Model"), tr("Data"), tr("Optimizer"), tr("Device and memory budget")};
  QList<ChipRow::Chip> chips;
  for (qsizetype i = 0; i < settings.size(); ++i) {
    const QString shown = fitted_text(settings[i], fontMetrics(), Theme::lines(longest_chip), Qt::ElideMiddle);
    chips << ChipRow::Chip{shown, shown == settings[i] ? names[i] : tr("%1: %2").arg(names[i], settings[i])};
  }
  chips_->set_chips(chips);
}

void FindHeader::show_change(bool elsewhere) {
  change_->setCheckable(!elsewhere);
  change_->setChecked(!elsewhere && setup_->isChecked());
  change_->setToolTip(elsewhere ? tr("Open the New run form with this program") : setup_->toolTip());
}

void FindHeader::show_state(const State& state) {
  activity_->setText(state.activity);
  // The visible one of the two buttons that alternate gets the keyboard focus.
  const bool hand_over = find_->hasFocus() || cancel_->hasFocus();
  log_->setVisible(state.has_search);
  cancel_->setVisible(state.searching);
  find_->setVisible(state.has_search && !state.searching); // without a search, the page itself has the button
  find_->setText(state.find_text);
  find_->setToolTip(state.find_help);
  if (hand_over)
    (state.searching ? cancel_ : find_)->setFocus();
}

QString FindHeader::strategy() const {
  return strategy_->currentText();
}

void FindHeader::set_strategy(const QString& strategy) {
  strategy_->setCurrentText(strategy);
}

void FindHeader::focus_cancel() {
  cancel_->setFocus();
}

} // namespace batchscope::ui

#include "moc_find_header.cpp"
