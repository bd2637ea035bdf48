#include "ui/widgets/note_line.h"

#include <algorithm>

#include <QAbstractScrollArea>
#include <QApplication>
#include <QEvent>
#include <QPainter>
#include <QStyle>

#include "ui/theme/theme.h"
#include "ui/widgets/elide.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr double whole_width = 26; // lines of text
constexpr int edge = 4;            // px of free space around it

} // namespace

NoteLine::NoteLine(QWidget& field, QWidget* parent) : QLabel(parent), field_(field) {
  setProperty("kind", QStringLiteral("caption"));
  setTextFormat(Qt::PlainText);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  field.installEventFilter(this);
  // A completion popup hides the loss of focus from the field.
  connect(qApp, &QApplication::focusChanged, this, [this](const QWidget* before, const QWidget* now) {
    if (before == &field_ || now == &field_)
      show_whole();
  });
}

NoteLine::~NoteLine() {
  delete whole_;
}

void NoteLine::show_note(const QString& text, bool wrong) {
  if (text == this->text() && wrong == wrong_)
    return;
  setText(text);
  setToolTip(text);
  if (wrong != wrong_) {
    wrong_ = wrong;
    setProperty("tone", wrong ? QStringLiteral("error") : QString());
    restyle(*this);
  }
  show_whole();
}

void NoteLine::set_begin(int begin) {
  begin_ = begin;
  update();
}

bool NoteLine::cut() const {
  return fontMetrics().horizontalAdvance(text()) > width();
}

QSize NoteLine::sizeHint() const {
  ensurePolished();
  return {0, fontMetrics().height()};
}

QSize NoteLine::minimumSizeHint() const {
  return sizeHint();
}

void NoteLine::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  // Below its field where it fits there, else with all the room that there is.
  const int begin = fontMetrics().horizontalAdvance(text()) > width() - begin_ ? 0 : begin_;
  const QRect room = rect().adjusted(begin, 0, 0, 0);
  style()->drawItemText(&painter, room, Qt::AlignLeft | Qt::AlignVCenter, palette(), isEnabled(),
                        fitted_text(text(), fontMetrics(), room.width(), Qt::ElideRight), foregroundRole());
}

void NoteLine::resizeEvent(QResizeEvent* event) {
  QLabel::resizeEvent(event);
  show_whole();
}

void NoteLine::hideEvent(QHideEvent* event) {
  QLabel::hideEvent(event);
  show_whole();
}

bool NoteLine::event(QEvent* event) {
  const bool done = QLabel::event(event);
  if (event->type() == QEvent::Enter || event->type() == QEvent::Leave)
    show_whole();
  return done;
}

bool NoteLine::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Enter || event->type() == QEvent::Leave)
    show_whole();
  return QLabel::eventFilter(watched, event);
}

/// The content widget of the surrounding scroll area, so that it scrolls along; else the window.
QWidget& NoteLine::ground() const {
  QWidget* ground = parentWidget();
  while (!ground->isWindow() && qobject_cast<QAbstractScrollArea*>(ground->parentWidget()->parentWidget()) == nullptr)
    ground = ground->parentWidget();
  return *ground;
}

void NoteLine::show_whole() {
  const bool looked_at = field_.hasFocus() || field_.underMouse() || underMouse();
  if (!isVisible() || !wrong_ || !looked_at || !cut()) {
    delete whole_;
    return;
  }
  QWidget& on = ground();
  if (!whole_) {
    whole_ = new QLabel(&on);
    whole_->setObjectName(QStringLiteral("whole_error"));
    whole_->setProperty("kind", QStringLiteral("bubble"));
    whole_->setTextFormat(Qt::PlainText);
    whole_->setWordWrap(true);
    whole_->setAttribute(Qt::WA_TransparentForMouseEvents);
  }
  whole_->setText(text());
  whole_->ensurePolished();
  const int width = std::min({Theme::lines(whole_width), on.width() - 2 * edge, whole_->sizeHint().width()});
  const QSize size(std::max(width, this->width()), whole_->heightForWidth(std::max(width, this->width())));
  const QPoint here = mapTo(&on, QPoint(0, 0));
  whole_->setGeometry(QRect({std::clamp(here.x(), 0, std::max(on.width() - size.width() - edge, 0)), here.y()}, size));
  whole_->raise();
  whole_->show();
}

} // namespace batchscope::ui

#include "moc_note_line.cpp"
