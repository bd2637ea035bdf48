#pragma once

#include <QComboBox>
#include <QToolButton>

#include "core/store/run_row.h"
#include "ui/page_test.h"
#include "ui/schedule/schedule_page.h"
#include "ui/schedule/schedule_plots.h"

namespace batchscope::ui::test {

class ScheduleHere : public PageHere<SchedulePage> {
public:
  /// The value beside a name in the cards.
  QString fact(const QString& name) {
    const QStringList lines = texts("cards").split('\n');
    const qsizetype at = lines.indexOf(name);
    return at < 0 || at + 1 >= lines.size() ? QString() : lines[at + 1];
  }

  void enter() { QTest::keyClick(field("schedule"), Qt::Key_Return); }

  /// Begins a run, and pauses it.
  void begin_paused(const run::RunSpec& spec) {
    bench().start_run(spec);
    QTRY_VERIFY_WITH_TIMEOUT(run() != nullptr && run()->running(), patience_ms);
    run()->pause();
    QTRY_VERIFY_WITH_TIMEOUT(run()->paused(), patience_ms);
  }

  /// Where the pointer takes hold of the handle at x: found as a person does, by the crosshair and the pointer's shape.
  QPoint handle_at(double x) {
    const int left = point_at(x).x();
    for (int y = plots().height() / 2; y > 0; y -= 2) {
      move({left, y});
      if (plots().cursor().shape() == Qt::SizeVerCursor)
        return {left, y};
    }
    return {-1, -1};
  }
};

} // namespace batchscope::ui::test
