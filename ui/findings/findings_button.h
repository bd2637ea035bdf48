#pragma once

#include <QToolButton>

#include <vector>

#include "core/advice/lint.h"

namespace batchscope::ui {

/// What the rules found in several runs: a short text, and a menu with a line for each finding. Hidden if there is
/// nothing. UI thread.
class FindingsButton : public QToolButton {
  Q_OBJECT

public:
  explicit FindingsButton(QWidget* parent = nullptr);
  void show_findings(const std::vector<advice::RunFindings>& findings);

Q_SIGNALS:
  void run_chosen(qint64 run);
};

} // namespace batchscope::ui
