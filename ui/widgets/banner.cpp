#include <QAccessible>
#include <QHBoxLayout>
#include <QToolButton>

#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

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
  hide();
}

void Banner::show_problem(const QString& text, const QString& action) {
  show_text(text, action, true);
}

void Banner::show_note(const QString& text, const QString& action) {
  show_text(text, action, false);
}

QString Banner::text() const {
  return isHidden() ? QString() : text_->text();
}

void Banner::dismiss() {
  if (isHidden())
    return;
  hide();
  Q_EMIT dismissed();
}

void Banner::dismiss_note() {
  if (!problem_)
    dismiss();
}

void Banner::show_text(const QString& text, const QString& action, bool problem) {
  problem_ = problem;
  setProperty("kind", problem ? QStringLiteral("problem") : QStringLiteral("note"));
  restyle(*this);
  show_icon();
  text_->setText(text);
  action_->setText(action);
  action_->setVisible(!action.isEmpty());
  setAccessibleName(text);
  show();
  QAccessibleEvent alert(this, QAccessible::Alert);
  QAccessible::updateAccessibility(&alert);
}

void Banner::show_icon() {
  const int size = Theme::lines(1.25);
  const QIcon icon = theme_.icon(problem_ ? QStringLiteral("warning") : QStringLiteral("info"));
  icon_->setPixmap(icon.pixmap({size, size}, devicePixelRatioF()));
}

} // namespace batchscope::ui
