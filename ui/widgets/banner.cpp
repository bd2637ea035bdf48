#include <QAccessible>
#include <QEvent>
#include <QHBoxLayout>
#include <QToolButton>

#include <algorithm>

#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr int from_edges = 12;              ///< px
constexpr double widest = 56;               ///< lines of text
constexpr qsizetype longest = 600;          ///< characters shown
constexpr double max_height_fraction = 0.5; ///< fraction of the parent's height

} // namespace

Banner::Banner(const Theme& theme, QWidget* parent)
    : QFrame(parent), theme_(theme), icon_(new QLabel(this)), text_(new QLabel(this)), action_(plain_button({}, this)) {
  text_->setTextFormat(Qt::PlainText);
  text_->setWordWrap(true);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  auto* close = new QToolButton(this);
  close->setIcon(theme.icon(QStringLiteral("close")));
  close->setToolTip(tr("Dismiss"));
  close->setAccessibleName(tr("Dismiss message"));
  auto* layout = new QHBoxLayout(this);
  const int side = Theme::lines(0.75), above = Theme::lines(0.35);
  layout->setContentsMargins(side, above, side, above);
  layout->setSpacing(Theme::lines(0.6));
  layout->addWidget(icon_);
  layout->addWidget(text_, 1);
  layout->addWidget(action_);
  layout->addWidget(close);
  connect(action_, &QPushButton::clicked, this, &Banner::action_chosen);
  connect(close, &QToolButton::clicked, this, &Banner::dismiss);
  connect(&theme, &Theme::changed, this, &Banner::show_icon);
  close_ = close;
  parent->installEventFilter(this);
  hide();
}

void Banner::show_problem(const QString& text, const QString& action) {
  show_text(text, action, Tone::problem);
}

void Banner::show_warning(const QString& text) {
  show_text(text, {}, Tone::warning);
}

void Banner::show_note(const QString& text, const QString& action) {
  show_text(text, action, Tone::note);
}

QString Banner::text() const {
  return isHidden() ? QString() : full_text_;
}

void Banner::dismiss() {
  if (isHidden())
    return;
  hide();
  leave_free(0);
  Q_EMIT dismissed();
}

void Banner::dismiss_note() {
  if (tone_ == Tone::note)
    dismiss();
}

void Banner::show_text(const QString& text, const QString& action, Tone tone) {
  tone_ = tone;
  setProperty("kind", tone == Tone::problem   ? QStringLiteral("problem")
                      : tone == Tone::warning ? QStringLiteral("warning")
                                              : QStringLiteral("note"));
  restyle(*this);
  show_icon();
  full_text_ = text;
  text_->setText(text.size() > longest ? text.left(longest) + QChar(0x2026) : text);
  action_->setText(action);
  action_->setVisible(!action.isEmpty());
  setAccessibleName(text);
  show();
  place();
  raise();
  QAccessibleEvent alert(this, QAccessible::Alert);
  QAccessible::updateAccessibility(&alert);
}

bool Banner::eventFilter(QObject* watched, QEvent* event) {
  // Its page may need more height by now.
  if (watched == parent() && (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest))
    place();
  return QFrame::eventFilter(watched, event);
}

/// Places it at the middle of the parent's lower edge, as wide as its text, and as high as necessary.
void Banner::place() {
  const QWidget& over = *parentWidget();
  const QMargins margins = layout()->contentsMargins();
  int natural = margins.left() + margins.right() + Theme::lines(1.25) + layout()->spacing() +
                text_->fontMetrics().boundingRect(QRect(), Qt::AlignLeft, text_->text()).width() + 2 +
                layout()->spacing() + close_->sizeHint().width() + 2 * frameWidth() + 2;
  if (!action_->text().isEmpty())
    natural += action_->sizeHint().width() + layout()->spacing();
  const int width = std::min({natural, Theme::lines(widest), std::max(1, over.width() - 2 * from_edges)});
  layout()->invalidate();
  const int wanted = hasHeightForWidth() ? heightForWidth(width) : sizeHint().height();
  const int height = std::min(wanted, static_cast<int>(over.height() * max_height_fraction));
  setGeometry((over.width() - width) / 2, over.height() - height - from_edges, width, height);
  if (!isHidden())
    leave_free(height + 2 * from_edges);
}

void Banner::leave_free(int height) {
  QLayout* layout = parentWidget()->layout();
  if (layout == nullptr)
    return;
  QMargins margins = layout->contentsMargins();
  const int usual = below_.value_or(margins.bottom());
  const int needed = layout->minimumSize().height() - margins.bottom();
  const bool room = needed + height <= parentWidget()->height(); // else the window would grow
  below_ = height > 0 ? std::optional(usual) : std::nullopt;
  margins.setBottom(height > 0 && room ? height : usual);
  layout->setContentsMargins(margins);
}

void Banner::show_icon() {
  const int size = Theme::lines(1.25);
  const QIcon icon = theme_.icon(tone_ == Tone::note ? QStringLiteral("info") : QStringLiteral("warning"));
  icon_->setPixmap(icon.pixmap({size, size}, devicePixelRatioF()));
}

} // namespace batchscope::ui
