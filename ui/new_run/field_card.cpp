#include "ui/new_run/field_card.h"

#include <QToolButton>
#include <QVBoxLayout>

#include <algorithm>

#include "ui/new_run/field_editor.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

/// As many of the names as can be read at a glance.
QString some_of(const QStringList& names) {
  constexpr qsizetype most = 5;
  const QString text = names.first(std::min(names.size(), most)).join(QStringLiteral(", "));
  return names.size() > most ? text + QStringLiteral(", …") : text;
}

} // namespace

FieldCard::FieldCard(const QString& title, QWidget* parent) : Card(title, parent), rows_(new QVBoxLayout) {
  rows_->setSpacing(0); // each row ends with its error line
  body()->addLayout(rows_);
}

void FieldCard::add(FieldEditor* editor) {
  if (editor->advanced())
    more_.append(editor);
  else
    rows_->addWidget(editor);
}

void FieldCard::finish() {
  if (more_.isEmpty())
    return;
  fold_ = new QToolButton(this);
  fold_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  fold_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  fold_->setObjectName(QStringLiteral("fold"));
  fold_->setProperty("kind", QStringLiteral("quiet"));
  fold_->setStyleSheet(QStringLiteral("padding-left: 0"));
  inside_ = new QWidget(this);
  auto* inside_rows = new QVBoxLayout(inside_);
  inside_rows->setContentsMargins(0, Theme::lines(0.4), 0, 0);
  inside_rows->setSpacing(0);
  for (FieldEditor* editor : more_)
    inside_rows->addWidget(editor);
  rows_->addWidget(fold_);
  rows_->addWidget(inside_);
  // After the fold button in tab order, too.
  setTabOrder(fold_, more_.first());
  connect(fold_, &QToolButton::clicked, this, [this] { set_folded(!folded_); });
  set_folded(true);
}

void FieldCard::set_folded(bool folded) {
  folded_ = folded;
  if (!fold_)
    return;
  fold_->setArrowType(folded ? Qt::RightArrow : Qt::DownArrow);
  inside_->setVisible(!folded);
  show_errors();
}

void FieldCard::show_errors() {
  if (!fold_)
    return;
  QStringList names, wrong;
  for (const FieldEditor* editor : more_) {
    names.append(editor->label().toLower());
    if (!editor->error().isEmpty())
      wrong.append(tr("%1: %2").arg(editor->label(), editor->error()));
  }
  const bool alarming = folded_ && !wrong.isEmpty();
  fold_->setText(!folded_   ? tr("Hide advanced settings")
                 : alarming ? tr("Advanced settings; errors: %1").arg(wrong.join(QStringLiteral("; ")))
                            : tr("Advanced settings: %1").arg(some_of(names)));
  fold_->setToolTip(alarming ? wrong.join(u'\n') : QString());
  fold_->setProperty("tone", alarming ? QStringLiteral("error") : QString());
  restyle(*fold_);
}

} // namespace batchscope::ui

#include "moc_field_card.cpp"
