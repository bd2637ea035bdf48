#include "ui/widgets/answer_banner.h"

#include <QLabel>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

AnswerBanner::AnswerBanner(QWidget* parent) : QFrame(parent), text_(new QLabel(this)), basis_(new QLabel(this)) {
  setProperty("kind", QStringLiteral("answer"));
  text_->setObjectName(QStringLiteral("answer"));
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::RichText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  basis_->setObjectName(QStringLiteral("answer-basis"));
  basis_->setProperty("kind", QStringLiteral("dimmed"));
  basis_->setWordWrap(true);
  basis_->setTextFormat(Qt::PlainText);
  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(Theme::lines(0.2));
  const int side = Theme::lines(0.85), above = Theme::lines(0.5);
  layout->setContentsMargins(side, above, side, above);
  layout->addWidget(text_);
  layout->addWidget(basis_);
}

void AnswerBanner::show_answer(const QString& headline, const QString& text, bool certain, const QString& basis) {
  plain_ = text;
  basis_->setText(basis);
  basis_->setVisible(!basis.isEmpty());
  const QString rest = text.startsWith(headline) ? text.mid(headline.size()) : text;
  text_->setText(QStringLiteral("<b>%1</b>%2").arg(headline.toHtmlEscaped(), rest.toHtmlEscaped()));
  text_->setAccessibleName(plain_);
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
