#include "ui/widgets/answer_banner.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

QLabel* selectable_label(const char* name, QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setObjectName(QLatin1String(name));
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  return label;
}

} // namespace

AnswerBanner::AnswerBanner(QWidget* parent) : QFrame(parent), top_(new QWidget(this)) {
  setProperty("kind", QStringLiteral("answer"));
  headline_ = selectable_label("answer", top_);
  headline_->setWordWrap(false);
  headline_->setMinimumWidth(1); // a long one is cut, and not the window as wide
  headline_->setProperty("kind", QStringLiteral("heading"));
  pill_ = new Pill(top_);
  pill_->setObjectName(QStringLiteral("certainty"));
  more_ = new QToolButton(top_);
  more_->setObjectName(QStringLiteral("answer-details"));
  more_->setProperty("kind", QStringLiteral("quiet"));
  more_->setCheckable(true);
  reason_ = selectable_label("answer-reason", this);
  details_ = selectable_label("answer-more", this);
  details_->setProperty("kind", QStringLiteral("dimmed"));
  auto* row = new QHBoxLayout(top_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(Theme::lines(0.6));
  row->addWidget(headline_);
  row->addWidget(pill_);
  row->addStretch(1);
  row->addWidget(more_);
  auto* layout = new QVBoxLayout(this);
  const int side = Theme::lines(0.85), above = Theme::lines(0.4);
  layout->setContentsMargins(side, above, side, above);
  layout->setSpacing(Theme::lines(0.2));
  layout->addWidget(top_);
  layout->addWidget(reason_);
  layout->addWidget(details_);
  connect(more_, &QToolButton::toggled, this, &AnswerBanner::show_details);
  show_details(false);
  top_->hide(); // until there is an answer
}

void AnswerBanner::show_details(bool shown) {
  more_->setText(shown ? tr("Hide details") : tr("Details"));
  details_->setVisible(shown && !details_->text().isEmpty());
}

void AnswerBanner::show_answer(const Answer& answer) {
  plain_ = answer.text;
  headline_->setText(answer.headline);
  reason_->setText(answer.reason);
  QStringList details{answer.details, answer.basis};
  details.removeAll(QString());
  details_->setText(details.join(u' '));
  switch (answer.certainty) {
  case Certainty::sure:
    pill_->show_text(tr("sure"), Pill::Tone::good);
    pill_->setToolTip(tr("Every other setting is worse beyond the 95 % interval, or slower and not better"));
    break;
  case Certainty::close:
    pill_->show_text(tr("close call"), Pill::Tone::accent);
    pill_->setToolTip(tr("Other settings show no clear difference from it"));
    break;
  case Certainty::unknown:
    pill_->show_text(tr("confidence not known"), Pill::Tone::neutral);
    pill_->setToolTip(tr("There are too few repeats, or other work disturbed them; see the details"));
    break;
  }
  top_->show();
  more_->setVisible(!details_->text().isEmpty());
  show_details(more_->isChecked());
  setAccessibleName(answer.basis.isEmpty() ? plain_ : plain_ + u' ' + answer.basis);
  setProperty("tone", answer.certainty == Certainty::sure ? QStringLiteral("good") : QStringLiteral("accent"));
  restyle(*this);
}

void AnswerBanner::show_none(const QString& why) {
  plain_ = why;
  headline_->clear();
  reason_->setText(why);
  details_->clear();
  top_->hide();
  details_->hide();
  setAccessibleName(why);
  setProperty("tone", QString());
  restyle(*this);
}

QString AnswerBanner::text() const {
  return plain_;
}

} // namespace batchscope::ui

#include "moc_answer_banner.cpp"
