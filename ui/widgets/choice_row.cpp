#include "ui/widgets/choice_row.h"

#include <QButtonGroup>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

ChoiceRow::ChoiceRow(const QString& question, const QList<Choice>& choices, QWidget* parent)
    : QWidget(parent), choices_(choices), buttons_(new QButtonGroup(this)) {
  auto* answers = new QWidget(this);
  auto* flow = new FlowLayout(Theme::lines(0.25), answers);
  for (int i = 0; i < choices_.size(); ++i) {
    auto* button = new QPushButton(choices_[i].text, answers);
    button->setProperty("kind", QStringLiteral("chip"));
    button->setCheckable(true);
    button->setObjectName(choices_[i].key);
    button->setAccessibleName(tr("%1 %2").arg(question, choices_[i].text));
    buttons_->addButton(button, i);
    flow->insertWidget(i, button);
  }
  flow->insertWidget(static_cast<int>(choices_.size()), new QWidget(answers)); // which takes the rest of the line
  buttons_->button(0)->setChecked(true);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(Theme::lines(0.125));
  layout->addWidget(dimmed_label(question, this));
  layout->addWidget(answers);
  connect(buttons_, &QButtonGroup::idToggled, this, [this](int /*id*/, bool on) {
    if (on)
      Q_EMIT changed();
  });
}

QString ChoiceRow::chosen() const {
  return choices_[buttons_->checkedId()].key;
}

void ChoiceRow::choose(const QString& key) {
  for (int i = 0; i < choices_.size(); ++i)
    if (choices_[i].key == key)
      buttons_->button(i)->setChecked(true);
}

} // namespace batchscope::ui

#include "moc_choice_row.cpp"
