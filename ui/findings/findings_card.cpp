#include "ui/findings/findings_card.h"

#include <QLabel>
#include <QVBoxLayout>

#include "core/run/spec_fields.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

Role role_of(advice::Severity severity) {
  switch (severity) {
  case advice::Severity::information:
    return Role::dimmed;
  case advice::Severity::warning:
    return Role::warning;
  case advice::Severity::critical:
    break;
  }
  return Role::error;
}

QString word_for(advice::Severity severity) {
  switch (severity) {
  case advice::Severity::information:
    return FindingsCard::tr("Note");
  case advice::Severity::warning:
    return FindingsCard::tr("Warning");
  case advice::Severity::critical:
    break;
  }
  return FindingsCard::tr("Critical");
}

QString escaped(const std::string& text) {
  return QString::fromStdString(text).toHtmlEscaped();
}

QString colored(const QString& text, const QColor& color) {
  return QStringLiteral("<span style=\"color:%1\">%2</span>").arg(color.name(), text);
}

QLabel* wrapped(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setWordWrap(true);
  label->setTextFormat(Qt::RichText);
  return label;
}

} // namespace

FindingsCard::FindingsCard(const Theme& theme, QWidget* parent)
    : QWidget(parent), theme_(theme), card_(new Card({}, this)), rows_(new QVBoxLayout), footer_(wrapped(card_)) {
  footer_->setProperty("kind", QStringLiteral("dimmed"));
  rows_->setSpacing(Theme::lines(0.5));
  card_->body()->addLayout(rows_);
  card_->body()->addWidget(footer_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(card_);
  connect(&theme_, &Theme::changed, this, &FindingsCard::rebuild);
}

void FindingsCard::show_findings(const QString& title, const std::vector<advice::Finding>& findings,
                                 const std::optional<run::RunSpec>& spec) {
  card_->set_title(title);
  findings_ = findings;
  spec_ = spec;
  const auto rules = static_cast<int>(advice::lints().size());
  footer_->setText(
      findings.empty()
          ? tr("Nothing found by %n rules.", nullptr, rules)
          : tr("Rules that apply: %1 of %2. Each names the number that triggered it.").arg(findings.size()).arg(rules));
  rebuild();
}

void FindingsCard::show_text(const QString& title, const QString& text) {
  card_->set_title(title);
  findings_.clear();
  spec_.reset();
  footer_->setText(text);
  rebuild();
}

void FindingsCard::rebuild() {
  while (QLayoutItem* item = rows_->takeAt(0)) {
    if (QWidget* widget = item->widget()) {
      widget->hide();
      widget->deleteLater(); // one of its links may be what led here
    }
    delete item;
  }
  for (std::size_t number = 0; number < findings_.size(); ++number)
    add_finding(number);
}

void FindingsCard::add_finding(std::size_t number) {
  const advice::Finding& finding = findings_[number];
  QString mend = escaped(finding.mend);
  const bool can_propose = spec_ && !finding.changes.empty();
  if (can_propose)
    mend = QStringLiteral("<a href=\"mend\" style=\"color:%1; text-decoration:none\">%2</a>")
               .arg(theme_.color(Role::accent).name(), tr("Train again with %1").arg(mend));
  auto* label = wrapped(card_);
  label->setObjectName(QStringLiteral("finding"));
  label->setText(colored(QStringLiteral("●"), theme_.color(role_of(finding.severity))) +
                 QStringLiteral(" <b>%1</b><br>").arg(escaped(finding.title)) +
                 colored(escaped(finding.message), theme_.color(Role::dimmed)) + QStringLiteral("<br>") + mend +
                 QStringLiteral("<br>") + colored(escaped(finding.source), theme_.color(Role::dimmed)));
  label->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::LinksAccessibleByMouse |
                                 Qt::LinksAccessibleByKeyboard);
  label->setFocusPolicy(can_propose ? Qt::StrongFocus : Qt::ClickFocus);
  label->setToolTip(word_for(finding.severity));
  label->setAccessibleName(tr("%1: %2").arg(word_for(finding.severity), QString::fromStdString(finding.title)));
  connect(label, &QLabel::linkActivated, this, [this, number] { propose(number); });
  rows_->addWidget(label);
}

void FindingsCard::propose(std::size_t number) {
  run::RunSpec spec = *spec_;
  for (const auto& [key, value] : findings_[number].changes)
    run::set_field(spec, key, value);
  Q_EMIT run_proposed(spec);
}

} // namespace batchscope::ui

#include "moc_findings_card.cpp"
