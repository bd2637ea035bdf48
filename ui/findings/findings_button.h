#pragma once

#include <QToolButton>

#include <vector>

#include "core/advice/lint.h"

namespace batchscope::ui {

/// Findings of the rules in several runs: a short text, and a menu with a line for each finding. Hidden if there is
/// none. UI thread.
class FindingsButton : public QToolButton {
  Q_OBJECT

public:
  explicit FindingsButton(QWidget* parent = nullptr);
  void show_findings(const std::vector<advice::RunFindings>& findings);

Q_SIGNALS:
  void run_chosen(qint64 run);
};

} // namespace batchscope::ui
