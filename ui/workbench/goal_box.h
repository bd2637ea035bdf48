#pragma once

#include <QWidget>

#include <optional>

#include "core/compare/answer.h"

class QComboBox;
class QLineEdit;

namespace batchscope::ui {

/// Chooses what to optimize for. UI thread.
class GoalBox : public QWidget {
  Q_OBJECT

public:
  explicit GoalBox(QWidget* parent = nullptr);

  /// Nothing while the value is not valid.
  std::optional<compare::Goal> goal() const;
  /// As on the command line: `accuracy`, `target:97%`.
  QString text() const;
  void set_text(const QString& text);
  /// Where the goal throughput makes no sense.
  void remove_throughput();

Q_SIGNALS:
  void changed();

private:
  void show_value();

  QComboBox* kind_;
  QLineEdit* value_;
};

} // namespace batchscope::ui
