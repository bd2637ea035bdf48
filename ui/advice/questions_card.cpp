#include "ui/advice/questions_card.h"

#include <QVBoxLayout>

#include "ui/widgets/choice_row.h"

namespace batchscope::ui {

namespace {

QList<ChoiceRow::Choice> task_choices() {
  QList<ChoiceRow::Choice> choices;
  for (const advice::Task& task : advice::tasks())
    choices.append({QString::fromStdString(task.key), QString::fromStdString(task.title)});
  return choices;
}

QList<ChoiceRow::Choice> model_choices() {
  QList<ChoiceRow::Choice> choices{{QStringLiteral("any"), QuestionsCard::tr("Any")},
                                   {QStringLiteral("100M"), QuestionsCard::tr("Below 1B")}};
  for (const char* size : {"1B", "3B", "7B", "13B", "70B"})
    choices.append({QString(size), QString(size)});
  return choices;
}

QList<ChoiceRow::Choice> memory_choices() {
  QList<ChoiceRow::Choice> choices{{QStringLiteral("any"), QuestionsCard::tr("Any")}};
  for (const int gigabytes : {6, 8, 12, 16, 24, 40, 80})
    choices.append({QString::number(gigabytes), QuestionsCard::tr("%1 GB").arg(gigabytes)});
  return choices;
}

} // namespace

QuestionsCard::QuestionsCard(QWidget* parent)
    : Card(tr("Four questions"), parent), task_(new ChoiceRow(tr("What for?"), task_choices(), this)),
      model_(new ChoiceRow(tr("Which model?"), model_choices(), this)),
      weights_(new ChoiceRow(tr("Its weights?"),
                             {{QStringLiteral("any"), tr("Any")},
                              {QStringLiteral("4bit"), tr("4 bit")},
                              {QStringLiteral("16bit"), tr("16 bit")}},
                             this)),
      memory_(new ChoiceRow(tr("How much memory?"), memory_choices(), this)) {
  auto* models = new QHBoxLayout;
  models->addWidget(model_, 3);
  models->addWidget(weights_, 2);
  body()->addWidget(task_);
  body()->addLayout(models);
  body()->addWidget(memory_);
  for (ChoiceRow* row : {task_, model_, weights_, memory_})
    connect(row, &ChoiceRow::changed, this, &QuestionsCard::changed);
}

advice::Question QuestionsCard::question() const {
  constexpr double gigabyte = 1e9;
  const QString any = QStringLiteral("any");
  advice::Question question{.task = task_->chosen().toStdString()};
  if (model_->chosen() != any)
    question.parameters = advice::parse_parameters(model_->chosen().toStdString(), "model");
  if (weights_->chosen() != any)
    question.quantization = weights_->chosen().toStdString();
  if (memory_->chosen() != any)
    question.memory_bytes = memory_->chosen().toDouble() * gigabyte;
  return question;
}

QJsonObject QuestionsCard::state() const {
  return {{"task", task_->chosen()},
          {"model", model_->chosen()},
          {"weights", weights_->chosen()},
          {"memory", memory_->chosen()}};
}

void QuestionsCard::restore(const QJsonObject& state) {
  task_->choose(state.value("task").toString());
  model_->choose(state.value("model").toString());
  weights_->choose(state.value("weights").toString());
  memory_->choose(state.value("memory").toString());
}

} // namespace batchscope::ui

#include "moc_questions_card.cpp"
