#include "ui/widgets/answer_banner.h"

#include <QHBoxLayout>
#include <QLabel>

#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

AnswerBanner::AnswerBanner(QWidget* parent) : QFrame(parent), text_(new QLabel(this)) {
  setProperty("kind", QStringLiteral("answer"));
  text_->setObjectName(QStringLiteral("answer"));
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::RichText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  auto* layout = new QHBoxLayout(this);
  const int side = Theme::lines(0.85), above = Theme::lines(0.5);
  layout->setContentsMargins(side, above, side, above);
  layout->addWidget(text_);
}

void AnswerBanner::show_answer(const QString& headline, const QString& text, bool certain, const QString& basis) {
  plain_ = text;
  const QString rest = text.startsWith(headline) ? text.mid(headline.size()) : text;
  QString shown = QStringLiteral("<b>%1</b>%2").arg(headline.toHtmlEscaped(), rest.toHtmlEscaped());
  if (!basis.isEmpty())
    shown += QStringLiteral(" <i>%1</i>").arg(basis.toHtmlEscaped());
  text_->setText(shown);
  text_->setAccessibleName(basis.isEmpty() ? plain_ : plain_ + u' ' + basis);
  setProperty("tone", certain ? QStringLiteral("good") : QStringLiteral("accent"));
  restyle(*this);
}

void AnswerBanner::show_none(const QString& why) {
  show_answer({}, why, false);
  setProperty("tone", QString());
  restyle(*this);
}

QString AnswerBanner::text() const {
  return plain_;
}

} // namespace batchscope::ui

#include "moc_answer_banner.cpp"
