#include "ui/widgets/command_palette.h"

#include <algorithm>
#include <utility>

#include <QAction>
#include <QCoreApplication>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/command_filter.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr int shortcut_role = Qt::UserRole + 1;
constexpr int why_not_role = Qt::UserRole + 2;
constexpr int max_rows = 14;

/// Draws the command's text on the left and its shortcut on the right; a disabled command is dimmed, with the reason on
/// the right.
class CommandDelegate : public QStyledItemDelegate {
public:
  CommandDelegate(const Theme& theme, QObject* parent) : QStyledItemDelegate(parent), theme_(theme) {}

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const QString why_not = index.data(why_not_role).toString();
    QStyleOptionViewItem item = option;
    initStyleOption(&item, index);
    const QStyle& style = *item.widget->style();
    const int margin =
        style.pixelMetric(QStyle::PM_FocusFrameHMargin, &item, item.widget) + 1; // as in Qt's text layout
    const QRect room = style.subElementRect(QStyle::SE_ItemViewItemText, &item, item.widget)
                           .adjusted(margin, 0, -Theme::lines(0.6), 0);
    const int text_width = item.fontMetrics.horizontalAdvance(item.text);
    const QString text = std::exchange(item.text, why_not.isEmpty() ? item.text : QString());
    style.drawControl(QStyle::CE_ItemViewItem, &item, painter, item.widget);
    painter->setPen(theme_.color(Role::dimmed));
    painter->setFont(item.font);
    if (!why_not.isEmpty())
      painter->drawText(room, Qt::AlignLeft | Qt::AlignVCenter, text);
    const QString right = why_not.isEmpty() ? index.data(shortcut_role).toString() : why_not;
    painter->drawText(room, Qt::AlignRight | Qt::AlignVCenter,
                      item.fontMetrics.elidedText(right, Qt::ElideRight, room.width() - text_width - Theme::lines(1)));
  }

private:
  const Theme& theme_;
};

QString text_of(const QAction& action) {
  const QString text = plain_text(action);
  const QString place = action.property(CommandPalette::place_property).toString();
  return place.isEmpty() ? text : CommandPalette::tr("%1: %2").arg(place, text);
}

QStandardItem* item_of(const QAction& action) {
  auto* item = new QStandardItem(text_of(action));
  const QString shortcut = action.shortcut().toString(QKeySequence::NativeText);
  QString obstacle = why_not(action);
  if (!action.isEnabled() && obstacle.isEmpty())
    obstacle = CommandPalette::tr("Not available now");
  const QString behind = obstacle.isEmpty() ? shortcut : obstacle;
  item->setData(shortcut, shortcut_role);
  item->setData(obstacle, why_not_role);
  item->setData(action.isEnabled(), CommandFilter::enabled_role);
  item->setData(action.toolTip(), Qt::ToolTipRole);
  item->setData(action.property(CommandPalette::keywords_property), CommandFilter::keywords_role);
  item->setData(behind.isEmpty() ? item->text() : QStringLiteral("%1, %2").arg(item->text(), behind),
                Qt::AccessibleTextRole);
  item->setEditable(false);
  return item;
}

} // namespace

CommandPalette::CommandPalette(const Theme& theme, QWidget* parent)
    : QDialog(parent, Qt::Popup), filter_(new QLineEdit(this)), list_(new QListView(this)),
      nothing_(dimmed_label(tr("No command matches all these words."), this)), model_(new QStandardItemModel(this)),
      shown_(new CommandFilter(this)) {
  setObjectName(QStringLiteral("command_palette"));
  setWindowTitle(tr("Commands"));
  setAccessibleName(tr("Commands"));
  filter_->setPlaceholderText(tr("Search commands"));
  filter_->setAccessibleName(tr("Search commands"));
  filter_->addAction(theme.icon(QStringLiteral("search")), QLineEdit::LeadingPosition);
  filter_->installEventFilter(this);
  shown_->setSourceModel(model_);
  list_->setModel(shown_);
  list_->setItemDelegate(new CommandDelegate(theme, list_));
  list_->setFocusPolicy(Qt::NoFocus);
  list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  list_->setFrameShape(QFrame::NoFrame);
  list_->setUniformItemSizes(true);
  list_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  list_->setAccessibleName(tr("Commands that match"));
  nothing_->setAlignment(Qt::AlignCenter);
  auto* layout = new QVBoxLayout(this);
  const int margin = Theme::lines(0.5);
  layout->setContentsMargins(margin, margin, margin, margin);
  layout->setSpacing(margin);
  layout->addWidget(filter_);
  layout->addWidget(list_);
  layout->addWidget(nothing_);
  // As high as the results, up to max_rows.
  layout->setSizeConstraint(QLayout::SetFixedSize);
  connect(filter_, &QLineEdit::textChanged, this, &CommandPalette::look_for);
  connect(list_, &QListView::clicked, this, &CommandPalette::trigger_current);
}

void CommandPalette::open_with(const QList<QAction*>& actions) {
  model_->clear();
  actions_.clear();
  for (QAction* action : actions) {
    if (!action->isVisible() || action->isSeparator() || action->text().isEmpty())
      continue;
    model_->appendRow(item_of(*action));
    actions_.append(action);
  }
  filter_->clear();
  look_for({});
  const QRect over = parentWidget()->window()->geometry();
  const int width = std::clamp(over.width() / 2, std::min(Theme::lines(26), over.width()), Theme::lines(44));
  filter_->setFixedWidth(width);
  adjustSize();
  move(over.x() + (over.width() - this->width()) / 2, over.y() + over.height() / 8);
  open();
  filter_->setFocus();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (watched != filter_ || event->type() != QEvent::KeyPress)
    return QDialog::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  switch (key->key()) {
  case Qt::Key_Return:
  case Qt::Key_Enter:
    trigger_current();
    return true;
  case Qt::Key_Up:
  case Qt::Key_Down:
  case Qt::Key_PageUp:
  case Qt::Key_PageDown:
    QCoreApplication::sendEvent(list_, event);
    return true;
  default:
    return false;
  }
}

void CommandPalette::look_for(const QString& words) {
  shown_->set_words(words);
  const bool any = shown_->rowCount() > 0;
  list_->setVisible(any);
  nothing_->setVisible(!any);
  if (any) {
    const int rows = std::min(shown_->rowCount(), max_rows);
    list_->setFixedHeight(rows * list_->sizeHintForRow(0) + 2 * list_->frameWidth());
    list_->setCurrentIndex(shown_->index(0, 0));
    list_->scrollToTop();
  }
}

void CommandPalette::trigger_current() {
  const QModelIndex current = shown_->mapToSource(list_->currentIndex());
  if (!list_->isVisible() || !current.isValid())
    return;
  const QPointer<QAction> action = actions_[current.row()];
  if (action && !action->isEnabled())
    return; // its row shows the reason
  accept();
  if (action)
    action->trigger();
}

} // namespace batchscope::ui

#include "moc_command_palette.cpp"
