#include "ui/live/plot_chooser.h"

#include <QAbstractItemModel>
#include <QEvent>
#include <QHBoxLayout>
#include <QLabel>
#include <QListWidget>
#include <QScreen>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr int key_role = Qt::UserRole;
constexpr int large_role = Qt::UserRole + 1;

} // namespace

PlotChooser::PlotChooser(QWidget* parent) : QPushButton(tr("Plots…"), parent) {
  setObjectName(QStringLiteral("plots"));
  setToolTip(tr("Choose the plots, such as accuracy or learning rate, their order and their size"));
  popup_ = make_list();
  connect(this, &QPushButton::clicked, this, &PlotChooser::open);
}

QWidget* PlotChooser::make_list() {
  auto* card = new Card({}, this);
  card->setWindowFlags(Qt::Popup | Qt::FramelessWindowHint);
  card->setObjectName(QStringLiteral("plot-list"));
  auto* hint = dimmed_label(tr("Tick what to show; drag to reorder"), card);
  list_ = new QListWidget(card);
  list_->setAccessibleName(tr("Plots"));
  list_->setDragDropMode(QAbstractItemView::InternalMove);
  list_->setDefaultDropAction(Qt::MoveAction);
  list_->setMinimumSize(Theme::lines(15), Theme::lines(14));
  const auto add = [card](QHBoxLayout* row, const QString& text, const char* name, const QString& tip) {
    auto* button = plain_button(text, card);
    button->setObjectName(QLatin1String(name));
    button->setToolTip(tip);
    row->addWidget(button);
    return button;
  };
  auto* row = new QHBoxLayout;
  up_ = add(row, tr("Up"), "plot-up", tr("Move the selected plot up"));
  down_ = add(row, tr("Down"), "plot-down", tr("Move the selected plot down"));
  large_ = add(row, tr("Large"), "plot-large", tr("Show the selected plot twice as high"));
  large_->setCheckable(true);
  row->addStretch();
  reset_ = add(row, tr("Reset"), "plot-reset", tr("Show the usual plots"));
  for (QWidget* each : QList<QWidget*>{list_, up_, down_, large_, reset_})
    each->installEventFilter(this);
  card->body()->addWidget(hint);
  card->body()->addWidget(list_, 1);
  card->body()->addLayout(row);
  connect(up_, &QPushButton::clicked, this, [this] { move_plot(-1); });
  connect(down_, &QPushButton::clicked, this, [this] { move_plot(1); });
  connect(large_, &QPushButton::clicked, this, [this](bool large) {
    if (QListWidgetItem* item = list_->currentItem())
      item->setData(large_role, large);
  });
  connect(reset_, &QPushButton::clicked, this, [this] {
    change(usual_plots());
    fill();
  });
  connect(list_, &QListWidget::currentRowChanged, this, &PlotChooser::update_buttons);
  connect(list_, &QListWidget::itemChanged, this, &PlotChooser::take);
  // A drag inserts a copy and then removes the original: what is in between is not a choice.
  connect(list_->model(), &QAbstractItemModel::rowsRemoved, this, &PlotChooser::take);
  connect(list_->model(), &QAbstractItemModel::rowsMoved, this, &PlotChooser::take);
  return card;
}

/// The list is a window of its own, but its keys would first be tried as the page's commands: Space would pause a run.
bool PlotChooser::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride)
    event->accept();
  return QPushButton::eventFilter(watched, event);
}

void PlotChooser::offer(const QList<OfferedPlot>& plots) {
  if (plots == offered_)
    return;
  offered_ = plots;
  if (popup_->isVisible())
    fill();
}

void PlotChooser::choose(const PlotChoices& choices) {
  change(choices);
  if (popup_->isVisible())
    fill();
}

void PlotChooser::change(const PlotChoices& choices) {
  if (choices == choices_)
    return;
  choices_ = choices;
  Q_EMIT chosen();
}

void PlotChooser::open() {
  Q_EMIT opening();
  fill();
  popup_->adjustSize();
  const QSize size = popup_->sizeHint().expandedTo(popup_->minimumSizeHint());
  QPoint at = mapToGlobal(QPoint(0, -size.height() - 4)); // above: the button is at the lower edge of the plots
  if (const QScreen* screen = this->screen()) {
    const QRect there = screen->availableGeometry();
    at.setX(std::clamp(at.x(), there.left(), std::max(there.left(), there.right() - size.width())));
    at.setY(std::max(at.y(), there.top()));
  }
  popup_->move(at);
  popup_->show();
  list_->setFocus();
}

/// Chosen plots in their order, then the others that the runs have.
void PlotChooser::fill() {
  const QString before = list_->currentItem() != nullptr ? list_->currentItem()->data(key_role).toString() : QString();
  filling_ = true;
  list_->clear();
  const auto add = [this](const PlotChoice& choice) {
    const auto offered = std::find_if(offered_.begin(), offered_.end(),
                                      [&choice](const OfferedPlot& plot) { return plot.key == choice.key; });
    if (offered == offered_.end())
      return;
    auto* item = new QListWidgetItem(offered->title, list_);
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable | Qt::ItemIsDragEnabled);
    item->setCheckState(choice.shown ? Qt::Checked : Qt::Unchecked);
    item->setData(key_role, choice.key);
    item->setData(large_role, choice.large);
  };
  for (const PlotChoice& choice : choices_)
    add(choice);
  for (const OfferedPlot& plot : offered_)
    if (!has_plot(choices_, plot.key))
      add({.key = plot.key, .shown = false});
  int row = 0;
  for (int i = 0; i < list_->count(); ++i)
    if (list_->item(i)->data(key_role).toString() == before)
      row = i;
  list_->setCurrentRow(row);
  filling_ = false;
  update_buttons();
}

void PlotChooser::take() {
  if (filling_)
    return;
  PlotChoices listed;
  for (int i = 0; i < list_->count(); ++i) {
    const QListWidgetItem* item = list_->item(i);
    listed +=
        PlotChoice{item->data(key_role).toString(), item->checkState() == Qt::Checked, item->data(large_role).toBool()};
  }
  // What was never chosen need not be remembered, and what these runs do not have keeps its place for those that do.
  listed.removeIf(
      [this](const PlotChoice& choice) { return !choice.shown && !choice.large && !has_plot(choices_, choice.key); });
  PlotChoices all;
  qsizetype next = 0;
  for (const PlotChoice& choice : std::as_const(choices_))
    all += has_plot(listed, choice.key) ? listed[next++] : choice;
  all += listed.mid(next);
  change(all);
  update_buttons();
}

void PlotChooser::move_plot(int by) {
  const int row = list_->currentRow();
  const int to = row + by;
  if (row < 0 || to < 0 || to >= list_->count())
    return;
  filling_ = true;
  QListWidgetItem* item = list_->takeItem(row);
  list_->insertItem(to, item);
  list_->setCurrentRow(to);
  filling_ = false;
  take();
}

void PlotChooser::update_buttons() {
  const QListWidgetItem* item = list_->currentItem();
  up_->setEnabled(item != nullptr && list_->currentRow() > 0);
  down_->setEnabled(item != nullptr && list_->currentRow() + 1 < list_->count());
  large_->setEnabled(item != nullptr);
  large_->setChecked(item != nullptr && item->data(large_role).toBool());
}

} // namespace batchscope::ui

#include "moc_plot_chooser.cpp"
