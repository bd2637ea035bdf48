#pragma once

#include <QList>
#include <QWidget>

#include <optional>
#include <vector>

#include "core/advice/lint.h"
#include "ui/theme/theme.h"

class QLabel;
class QVBoxLayout;

namespace batchscope::ui {

class Card;

/// Findings of the rules in a run: the facts, and a link that proposes the run with the change that mends it. UI
/// thread.
class FindingsCard : public QWidget {
  Q_OBJECT

public:
  explicit FindingsCard(const Theme& theme, QWidget* parent = nullptr);

  /// `spec`: the run's settings, for the links; nothing for a run of another program.
  void show_findings(const QString& title, const std::vector<advice::Finding>& findings,
                     const std::optional<run::RunSpec>& spec);
  /// Instead of findings: a title and why there are none.
  void show_text(const QString& title, const QString& text);
  int count() const { return static_cast<int>(findings_.size()); }

Q_SIGNALS:
  /// The run with the change of a finding.
  void run_proposed(const batchscope::run::RunSpec& spec);

private:
  void rebuild();
  void add_finding(std::size_t number);
  void propose(std::size_t number);

  const Theme& theme_;
  std::vector<advice::Finding> findings_;
  std::optional<run::RunSpec> spec_;
  Card* card_;
  QVBoxLayout* rows_;
  QLabel* footer_;
};

} // namespace batchscope::ui
