#include "ui/findings/findings_button.h"

#include <QMenu>

#include <map>

namespace batchscope::ui {

namespace {

constexpr qsizetype most_runs = 5; ///< numbers in a line of the menu

struct Lines {
  QString title;
  std::vector<std::int64_t> runs;
  std::string message; ///< of the first
};

QString runs_text(const std::vector<std::int64_t>& runs) {
  QStringList numbers;
  for (const std::int64_t run : runs) {
    if (numbers.size() == most_runs)
      return FindingsButton::tr("runs %1 and %2 more")
          .arg(numbers.join(QStringLiteral(", ")))
          .arg(static_cast<qsizetype>(runs.size()) - most_runs);
    numbers += QString::number(run);
  }
  return runs.size() == 1 ? FindingsButton::tr("run %1").arg(numbers.first())
                          : FindingsButton::tr("runs %1").arg(numbers.join(QStringLiteral(", ")));
}

} // namespace

FindingsButton::FindingsButton(QWidget* parent) : QToolButton(parent) {
  setProperty("kind", QStringLiteral("quiet"));
  setObjectName(QStringLiteral("findings"));
  setPopupMode(QToolButton::InstantPopup);
  setMenu(new QMenu(this));
  menu()->setToolTipsVisible(true);
  setToolTip(tr("What the rules of the Advice page found in these runs"));
  setFocusPolicy(Qt::TabFocus);
  hide();
}

/// A line for each rule, since the runs of a sweep often share what is wrong.
void FindingsButton::show_findings(const std::vector<advice::RunFindings>& findings) {
  std::map<std::string, Lines> by_rule;
  std::size_t judged = 0;
  for (const advice::RunFindings& run : findings) {
    judged += run.findings.empty() ? 0 : 1;
    for (const advice::Finding& finding : run.findings) {
      Lines& lines = by_rule[finding.rule];
      if (lines.runs.empty()) {
        lines.title = QString::fromStdString(finding.title);
        lines.message = finding.message;
      }
      lines.runs.push_back(run.run);
    }
  }
  menu()->clear();
  for (const auto& [rule, lines] : by_rule) {
    QAction* action = menu()->addAction(tr("%1 (%2)").arg(lines.title, runs_text(lines.runs)));
    action->setToolTip(
        tr("Run %1: %2").arg(lines.runs.front()).arg(QString::fromStdString(lines.message).toHtmlEscaped()));
    connect(action, &QAction::triggered, this, [this, run = lines.runs.front()] { Q_EMIT run_chosen(run); });
  }
  setVisible(judged > 0);
  setText(judged == 1 ? tr("Findings in 1 run") : tr("Findings in %1 runs").arg(judged));
  setAccessibleName(text());
}

} // namespace batchscope::ui

#include "moc_findings_button.cpp"
