#pragma once

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "core/store/run_store.h"
#include "ui/plot/linked_plots.h"
#include "ui/schedule/schedule_page.h"
#include "ui/schedule/schedule_plots.h"

namespace batchscope::ui::test {

inline constexpr int patience_ms = 60'000; ///< sanitizers and busy machines are slow

/// A small net on the bundled images: a thousand steps take a second or two.
inline train::RunSpec small_run(std::int64_t steps) {
  train::RunSpec spec;
  spec.model = "mlp:hidden=16";
  spec.data = "demo";
  spec.memory_budget = 100'000'000;
  spec.batch = {train::BatchChoice::Kind::number, 16};
  spec.length = {.epochs = std::nullopt, .examples = std::nullopt, .steps = steps};
  return spec;
}

/// A conv net of which about 47 examples fit into the memory.
inline train::RunSpec tight_run(std::int64_t steps) {
  train::RunSpec spec = small_run(steps);
  spec.model = "cnn";
  spec.memory_budget = 24'000'000;
  return spec;
}

/// The page as the window shows it, on an empty database in a folder of its own.
class ScheduleHere {
public:
  ScheduleHere() {
    theme_.apply_to(*qApp);
    page_.resize(1360, 800);
    page_.show();
    if (!QTest::qWaitForWindowExposed(&page_))
      qFatal("the page is not shown");
  }

  std::filesystem::path database() const { return (folder_.path() + "/runs.db").toStdString(); }
  Theme& theme() { return theme_; }
  Workbench& bench() { return bench_; }
  SchedulePage& page() { return page_; }
  OpenRun* run() { return bench_.current(); }
  LinkedPlots& plots() { return *page_.findChild<LinkedPlots*>(); }

  template <typename Widget = QPushButton> Widget* named(const char* name) {
    return page_.findChild<Widget*>(QLatin1String(name));
  }
  QLineEdit* field(const char* name) { return named<QWidget>(name)->findChild<QLineEdit*>(); }
  QString error_of(const char* name) {
    const auto* label = named<QWidget>(name)->findChild<QLabel*>("error");
    return label->isVisible() && label->property("tone") == "error" ? label->text() : QString();
  }
  /// All that is said below a widget, a line each.
  QString texts(const char* name) {
    QStringList lines;
    for (const auto* label : named<QWidget>(name)->findChildren<QLabel*>())
      if (label->isVisible() && !label->text().isEmpty())
        lines << label->text();
    return lines.join('\n');
  }
  /// The value beside a name in the cards.
  QString fact(const QString& name) {
    const QStringList lines = texts("cards").split('\n');
    const qsizetype at = lines.indexOf(name);
    return at < 0 || at + 1 >= lines.size() ? QString() : lines[at + 1];
  }

  void click(QPushButton* button) {
    QVERIFY(button != nullptr && button->isVisible() && button->isEnabled());
    QTest::mouseClick(button, Qt::LeftButton);
  }
  void type(const char* name, const QString& text) {
    QLineEdit* edit = field(name);
    QTest::mouseClick(edit, Qt::LeftButton);
    QTest::keyClick(edit, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(edit, Qt::Key_Delete);
    QTest::keyClicks(edit, text);
  }
  void enter() { QTest::keyClick(field("schedule"), Qt::Key_Return); }

  /// Begins a run, and pauses it.
  void begin_paused(const train::RunSpec& spec) {
    bench_.start_run(spec);
    QTRY_VERIFY_WITH_TIMEOUT(run() != nullptr && run()->running(), patience_ms);
    run()->pause();
    QTRY_VERIFY_WITH_TIMEOUT(run()->paused(), patience_ms);
  }

  /// Where the pointer takes hold of the handle at x: found as a person does, by the crosshair and the pointer's shape.
  QPoint handle_at(double x) {
    LinkedPlots& plots = this->plots();
    plots.refresh_now();
    const auto move = [&plots](const QPoint& to) {
      QTest::mouseMove(&plots, to);
      QCoreApplication::processEvents();
    };
    int left = 0, right = plots.width() - 1;
    while (left < right) {
      const int middle = (left + right) / 2;
      move({middle, plots.height() / 10});
      const auto here = plots.crosshair();
      if (here ? *here < x : middle < plots.width() / 2)
        left = middle + 1;
      else
        right = middle;
    }
    for (int y = plots.height() / 2; y > 0; y -= 2) {
      move({left, y});
      if (plots.cursor().shape() == Qt::SizeVerCursor)
        return {left, y};
    }
    return {-1, -1};
  }

  /// For a person to look at, where BATCHSCOPE_PICTURES names a folder.
  void keep_picture(const QString& name) {
    const QString folder = qEnvironmentVariable("BATCHSCOPE_PICTURES");
    if (folder.isEmpty())
      return;
    for (const auto mode : {Theme::Mode::light, Theme::Mode::dark}) {
      theme_.set_mode(mode);
      for (int round = 0; round < 3; ++round) // texts, what they make of the layout, and what is drawn
        QCoreApplication::processEvents();
      if (plots().isVisible())
        plots().refresh_now();
      page_.grab().save(QString("%1/schedule-%2-%3-%4x.png")
                            .arg(folder, name, mode == Theme::Mode::dark ? "dark" : "light")
                            .arg(page_.devicePixelRatioF()));
    }
    theme_.set_mode(Theme::Mode::light);
  }

private:
  QTemporaryDir folder_;
  Theme theme_;
  Workbench bench_{theme_, database()};
  SchedulePage page_{bench_};
};

} // namespace batchscope::ui::test
