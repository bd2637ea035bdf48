#include "ui/widgets/key_sheet.h"

#include <algorithm>
#include <vector>

#include <QAction>
#include <QGridLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QScrollBar>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/command_filter.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr double column_width = 25; // lines of text
constexpr int max_columns = 3;

bool matches(const KeyGroup& group, const KeyHelp& line, const QString& words) {
  const QString text = QStringLiteral("%1 %2 %3").arg(group.place, line.keys, line.what);
  return CommandFilter::score(text, words.split(u' ', Qt::SkipEmptyParts)) >= 0;
}

QWidget* block_of(const KeyGroup& group, QWidget* parent) {
  auto* block = new QWidget(parent);
  auto* grid = new QGridLayout(block);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(Theme::lines(0.6));
  grid->setVerticalSpacing(Theme::lines(0.2));
  grid->setColumnStretch(1, 1);
  auto* heading = new QLabel(group.place, block);
  heading->setProperty("kind", QStringLiteral("heading"));
  grid->addWidget(heading, 0, 0, 1, 2);
  for (const KeyHelp& line : group.keys) {
    const int row = grid->rowCount();
    auto* keys = new QLabel(line.keys, block);
    keys->setTextFormat(Qt::PlainText);
    keys->setWordWrap(true);
    keys->setFixedWidth(Theme::lines(8.5));
    keys->setAccessibleName(QStringLiteral("%1: %2").arg(line.keys, line.what));
    auto* what = dimmed_label(line.what, block);
    what->setWordWrap(true);
    grid->addWidget(keys, row, 0, Qt::AlignTop);
    grid->addWidget(what, row, 1, Qt::AlignTop);
  }
  return block;
}

} // namespace

QList<KeyHelp> keys_of(const QList<QAction*>& actions) {
  QList<KeyHelp> help;
  for (const QAction* action : actions) {
    QStringList keys;
    for (const QKeySequence& each : action->shortcuts())
      keys.append(each.toString(QKeySequence::NativeText));
    const QString what = action->property(key_help_property).toString();
    if (action->isVisible() && !keys.isEmpty())
      help.append({keys.join(QStringLiteral(", ")), what.isEmpty() ? plain_text(*action) : what});
  }
  return help;
}

KeySheet::KeySheet(QWidget* parent)
    : QDialog(parent, Qt::Popup), filter_(new QLineEdit(this)),
      nothing_(dimmed_label(tr("No shortcut matches all these words."), this)), scroll_(new QScrollArea(this)) {
  setObjectName(QStringLiteral("key_sheet"));
  setWindowTitle(tr("Keyboard shortcuts"));
  setAccessibleName(tr("Keyboard shortcuts"));
  filter_->setPlaceholderText(tr("Search by action or key"));
  filter_->setAccessibleName(tr("Search keyboard shortcuts"));
  filter_->setClearButtonEnabled(true);
  filter_->installEventFilter(this);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setFocusPolicy(Qt::NoFocus);
  scroll_->setAccessibleName(tr("Keyboard shortcuts and their actions"));
  nothing_->setAlignment(Qt::AlignCenter);
  auto* layout = new QVBoxLayout(this);
  const int margin = Theme::lines(0.9);
  layout->setContentsMargins(margin, margin, margin, margin);
  layout->setSpacing(margin);
  layout->addWidget(page_title(tr("Keyboard shortcuts"), this));
  layout->addWidget(filter_);
  layout->addWidget(scroll_, 1);
  layout->addWidget(nothing_, 1);
  connect(filter_, &QLineEdit::textChanged, this, &KeySheet::show_keys);
}

void KeySheet::open_with(const QList<KeyGroup>& groups) {
  groups_ = groups;
  filter_->clear();
  const QRect over = parentWidget()->window()->geometry();
  resize(std::min(Theme::lines(column_width * max_columns + 4), over.width() * 9 / 10), over.height() * 9 / 10);
  move(over.center() - rect().center());
  show_keys();
  open();
  filter_->setFocus();
}

/// Adds each group to the column that is the shortest so far.
void KeySheet::show_keys() {
  auto* sheet = new QWidget;
  auto* row = new QHBoxLayout(sheet);
  row->setContentsMargins(0, 0, Theme::lines(0.5), 0);
  row->setSpacing(Theme::lines(1.5));
  struct Column {
    QVBoxLayout* layout;
    qsizetype lines = 0;
  };
  std::vector<Column> columns;
  const int count = std::clamp(width() / Theme::lines(column_width), 1, max_columns);
  for (int i = 0; i < count; ++i) {
    columns.push_back({new QVBoxLayout, 0});
    columns.back().layout->setSpacing(Theme::lines(1));
    row->addLayout(columns.back().layout, 1);
  }
  bool any = false;
  for (KeyGroup group : std::as_const(groups_)) {
    group.keys.removeIf([&](const KeyHelp& line) { return !matches(group, line, filter_->text()); });
    if (group.keys.isEmpty())
      continue;
    any = true;
    auto& shortest = *std::min_element(columns.begin(), columns.end(),
                                       [](const Column& a, const Column& b) { return a.lines < b.lines; });
    shortest.layout->addWidget(block_of(group, sheet));
    shortest.lines += group.keys.size() + 2;
  }
  for (const Column& column : columns)
    column.layout->addStretch();
  scroll_->setWidget(sheet);
  scroll_->setVisible(any);
  nothing_->setVisible(!any);
}

bool KeySheet::eventFilter(QObject* watched, QEvent* event) {
  if (watched != filter_ || event->type() != QEvent::KeyPress)
    return QDialog::eventFilter(watched, event);
  const auto* key = static_cast<QKeyEvent*>(event);
  QScrollBar* bar = scroll_->verticalScrollBar();
  switch (key->key()) {
  case Qt::Key_Up:
  case Qt::Key_Down:
    bar->setValue(bar->value() + (key->key() == Qt::Key_Up ? -1 : 1) * Theme::lines(2));
    return true;
  case Qt::Key_PageUp:
  case Qt::Key_PageDown:
    bar->setValue(bar->value() + (key->key() == Qt::Key_PageUp ? -1 : 1) * bar->pageStep());
    return true;
  case Qt::Key_Question:
  case Qt::Key_F1:
    if (filter_->text().isEmpty()) {
      reject(); // the key that opens it also closes it
      return true;
    }
    return false;
  default:
    return false;
  }
}

} // namespace batchscope::ui

#include "moc_key_sheet.cpp"
