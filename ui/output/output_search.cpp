#include "ui/output/output_search.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QTextCursor>
#include <QToolButton>

#include "ui/output/output_text.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

OutputSearch::OutputSearch(const Theme& theme, OutputText& text, QWidget* parent)
    : QWidget(parent), text_(text), field_(new QLineEdit(this)), count_(dimmed_label({}, this)),
      previous_(add_button(QStringLiteral("\u2191"), tr("Previous (Shift+F3, Shift+Enter)"))),
      next_(add_button(QStringLiteral("\u2193"), tr("Next (F3, Enter)"))),
      close_(add_button({}, tr("Close the search (Esc)"))) {
  field_->setObjectName(QStringLiteral("output-search"));
  field_->setPlaceholderText(tr("Search the output"));
  field_->setAccessibleName(field_->placeholderText());
  field_->setFixedWidth(Theme::lines(14));
  count_->setObjectName(QStringLiteral("output-hits"));
  count_->setMinimumWidth(fontMetrics().horizontalAdvance(tr("%1 of %2").arg(9999).arg(9999)));
  const auto show_icon = [this, &theme] { close_->setIcon(theme.icon(QStringLiteral("close"))); };
  connect(&theme, &Theme::changed, this, show_icon);
  show_icon();
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(Theme::lines(0.25));
  row->addWidget(field_);
  row->addWidget(previous_);
  row->addWidget(next_);
  row->addWidget(count_);
  row->addWidget(close_);
  field_->installEventFilter(this);
  text_.installEventFilter(this);
  connect(field_, &QLineEdit::textChanged, this, [this](const QString& searched) {
    text_.search(searched);
    text_.go_to_nearest();
  });
  connect(&text_, &OutputText::hits_changed, this, &OutputSearch::show_count);
  connect(&text_, &QPlainTextEdit::selectionChanged, this, &OutputSearch::show_count);
  connect(previous_, &QToolButton::clicked, &text_, &OutputText::go_to_previous);
  connect(next_, &QToolButton::clicked, &text_, &OutputText::go_to_next);
  connect(close_, &QToolButton::clicked, this, &OutputSearch::close);
  show_count();
  hide();
}

QToolButton* OutputSearch::add_button(const QString& text, const QString& tip) {
  auto* button = new QToolButton(this);
  button->setText(text);
  button->setToolTip(tip);
  button->setAccessibleName(tip.section(QStringLiteral(" ("), 0, 0));
  return button;
}

void OutputSearch::open() {
  const QString selected = text_.textCursor().selectedText();
  if (!selected.isEmpty() && !selected.contains(QChar::ParagraphSeparator))
    field_->setText(selected);
  show();
  Q_EMIT toggled(true);
  field_->setFocus(Qt::ShortcutFocusReason);
  field_->selectAll();
  text_.search(field_->text());
}

void OutputSearch::close() {
  if (isHidden())
    return;
  text_.search({});
  text_.setFocus(Qt::OtherFocusReason);
  hide();
  Q_EMIT toggled(false);
}

void OutputSearch::show_count() {
  const std::size_t hits = text_.hit_count();
  const auto current = text_.current_hit();
  const auto count = format_count(static_cast<qint64>(hits));
  mark_wrong(*field_, hits == 0 && !field_->text().isEmpty());
  count_->setText(field_->text().isEmpty() ? QString()
                  : hits == 0              ? tr("No hits")
                  : current                ? tr("%1 of %2").arg(format_count(static_cast<qint64>(*current) + 1), count)
                  : hits == 1              ? tr("1 hit")
                                           : tr("%1 hits").arg(count));
  previous_->setEnabled(hits > 0);
  next_->setEnabled(hits > 0);
}

/// Before the page's shortcuts get them.
bool OutputSearch::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride && event->type() != QEvent::KeyPress)
    return QWidget::eventFilter(watched, event);
  const auto& press = *static_cast<QKeyEvent*>(event);
  const bool shift = press.modifiers().testFlag(Qt::ShiftModifier);
  const bool finds = press.matches(QKeySequence::Find);
  const bool closes = press.key() == Qt::Key_Escape && !isHidden();
  const bool steps =
      !isHidden() && (press.key() == Qt::Key_F3 ||
                      (watched == field_ && (press.key() == Qt::Key_Return || press.key() == Qt::Key_Enter)));
  if (!finds && !closes && !steps)
    return QWidget::eventFilter(watched, event);
  event->accept();
  if (event->type() == QEvent::ShortcutOverride)
    return true;
  if (finds)
    open();
  else if (closes)
    close();
  else if (shift)
    text_.go_to_previous();
  else
    text_.go_to_next();
  return true;
}

} // namespace batchscope::ui

#include "moc_output_search.cpp"
