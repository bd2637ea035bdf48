#pragma once

#include <QJsonObject>

#include "core/advice/advice.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

class ChoiceRow;

/// The questions about task, model, its weights and memory. UI thread.
class QuestionsCard : public Card {
  Q_OBJECT

public:
  explicit QuestionsCard(QWidget* parent = nullptr);

  advice::Question question() const;
  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void changed();

private:
  ChoiceRow* task_;
  ChoiceRow* model_;
  ChoiceRow* weights_;
  ChoiceRow* memory_;
};

} // namespace batchscope::ui
