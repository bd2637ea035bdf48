#include "ui/sweep/sweep_header.h"

#include <QAction>
#include <QApplication>
#include <QComboBox>
#include <QDateTime>
#include <QHBoxLayout>
#include <QLocale>
#include <QProgressBar>

#include "ui/theme/theme.h"
#include "ui/widgets/commands.h"

namespace batchscope::ui {

namespace {

constexpr int bar_range = 1000;

constexpr int in_list = Qt::UserRole + 1; ///< text of an entry in the list, which has more room than the box

/// `Sweep 3   batch size × learning rate   24.11.26 10:12`
QString entry_of(const KnownSweep& sweep, const QString& when) {
  const QString what = title_of(sweep.spec).section(QStringLiteral(": "), 1);
  return QStringList{SweepHeader::tr("Sweep %1").arg(sweep.id), what, when}.join(QStringLiteral("   "));
}

QString when_text(const KnownSweep& sweep) {
  const QDateTime at = QDateTime::fromString(sweep.created, Qt::ISODate).toLocalTime();
  return at.isValid() ? QLocale().toString(at, QLocale::ShortFormat) : sweep.created;
}

} // namespace

SweepHeader::SweepHeader(const Actions& actions, QWidget* parent)
    : QWidget(parent), actions_(actions), title_(new ElidedLabel(Qt::ElideRight, this)), pill_(new Pill(this)),
      progress_(new QProgressBar(this)), text_(dimmed_label({}, this)), sweeps_(new QComboBox(this)),
      main_(filled_button({}, this)) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  title_->setProperty("kind", QStringLiteral("title"));
  title_->setObjectName(QStringLiteral("title"));
  progress_->setTextVisible(false);
  progress_->setRange(0, bar_range);
  progress_->setMinimumWidth(Theme::lines(3));
  progress_->setMaximumWidth(Theme::lines(14));
  progress_->setAccessibleName(tr("Progress of the sweep"));
  text_->setObjectName(QStringLiteral("progress_text"));
  pill_->setObjectName(QStringLiteral("state"));
  sweeps_->setObjectName(QStringLiteral("sweeps"));
  sweeps_->setAccessibleName(tr("Sweep"));
  sweeps_->setToolTip(tr("Show another sweep of the database, or plan a new one"));
  sweeps_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  sweeps_->setMinimumContentsLength(9);
  sweeps_->setItemDelegate(new ListTextDelegate(in_list, sweeps_));
  connect(sweeps_, &QComboBox::activated, this, [this](int index) {
    const QVariant sweep = sweeps_->itemData(index);
    if (sweep.isValid())
      Q_EMIT sweep_chosen(sweep.toLongLong());
    else
      Q_EMIT new_chosen();
  });
  row->addWidget(title_, 0);
  row->addWidget(pill_);
  row->addWidget(progress_, 1);
  row->addWidget(text_);
  row->addStretch(1);
  row->addWidget(sweeps_);
  for (QAction* action : {actions.pause, actions.stop, actions.resume, actions.add, actions.start, actions.compare}) {
    auto* button = bind(plain_button({}, this), action);
    button->setObjectName(action->objectName());
    button->hide();
    row->addWidget(button);
    buttons_.emplace_back(action, button);
  }
  main_->setObjectName(QStringLiteral("main"));
  connect(main_, &QPushButton::clicked, this, [this] {
    if (on_main_)
      on_main_->trigger();
  });
  row->addWidget(main_);
}

void SweepHeader::show_state(const State& state) {
  title_->setText(state.title);
  pill_->setVisible(!state.status.isEmpty());
  pill_->show_text(state.status, state.tone);
  progress_->setVisible(state.progress.has_value());
  if (state.progress)
    progress_->setValue(static_cast<int>(*state.progress * bar_range));
  text_->setText(state.text);
  text_->setToolTip(state.detail);
  show_buttons(state);
}

void SweepHeader::show_buttons(const State& state) {
  // A button that is hidden passes the focus on to whatever comes next, which may be far from here.
  bool keyboard_here = main_->hasFocus() && state.main == nullptr;
  for (const auto& [action, button] : buttons_)
    keyboard_here = keyboard_here || (button->hasFocus() && !state.others.contains(action));
  if (keyboard_here)
    sweeps_->setFocus();
  for (const auto& [action, button] : buttons_)
    button->setVisible(state.others.contains(action));
  on_main_ = state.main;
  main_->setVisible(on_main_ != nullptr);
  if (on_main_ != nullptr) {
    main_->setText(on_main_->iconText());
    main_->setEnabled(on_main_->isEnabled());
    main_->setToolTip(on_main_->toolTip());
    if (keyboard_here)
      main_->setFocus();
  }
}

void SweepHeader::show_sweeps(const std::vector<KnownSweep>& sweeps, std::optional<std::int64_t> shown) {
  if (sweeps_->view()->isVisible())
    return; // being chosen from
  const QSignalBlocker quiet(sweeps_);
  sweeps_->clear();
  for (auto sweep = sweeps.rbegin(); sweep != sweeps.rend(); ++sweep) {
    sweeps_->addItem(tr("Sweep %1").arg(sweep->id), QVariant::fromValue<qlonglong>(sweep->id));
    sweeps_->setItemData(sweeps_->count() - 1, entry_of(*sweep, when_text(*sweep)), in_list);
    if (shown == sweep->id)
      sweeps_->setCurrentIndex(sweeps_->count() - 1);
  }
  sweeps_->addItem(tr("New sweep"));
  if (!shown)
    sweeps_->setCurrentIndex(sweeps_->count() - 1);
  // The list may be wider than the box.
  sweeps_->view()->setMinimumWidth(std::min(sweeps_->view()->sizeHintForColumn(0) + Theme::lines(2), Theme::lines(32)));
}

} // namespace batchscope::ui

#include "moc_sweep_header.cpp"
