#pragma once

#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

#include "core/base/json.h"
#include "core/store/run_store.h"
#include "ui/find/find_page.h"
#include "ui/plot/linked_plots.h"

namespace batchscope::ui::test {

inline constexpr int patience_ms = 60'000; ///< sanitizers and busy machines are slow

/// A conv net on the bundled images, of which about twenty fit into the memory.
inline train::RunSpec tight_net() {
  train::RunSpec spec;
  spec.model = "cnn";
  spec.data = "demo";
  spec.memory_budget = 10'000'000;
  return spec;
}

/// The page as the window shows it, on an empty database in a folder of its own.
class FindHere {
public:
  FindHere() {
    theme_.apply_to(*qApp);
    page_.resize(1360, 800);
    page_.show();
    if (!QTest::qWaitForWindowExposed(&page_))
      qFatal("the page is not shown");
  }

  std::filesystem::path database() const { return (folder_.path() + "/runs.db").toStdString(); }
  QString folder() const { return folder_.path(); }
  Theme& theme() { return theme_; }
  Workbench& bench() { return bench_; }
  FindPage& page() { return page_; }
  LinkedPlots& plots() { return *page_.findChild<LinkedPlots*>(); }
  QTableView& table() { return *page_.findChild<QTableView*>("probes"); }
  Job* job() { return bench_.engine().jobs().last(); }

  template <typename Widget = QPushButton> Widget* named(const char* name) {
    return page_.findChild<Widget*>(QLatin1String(name));
  }
  QString text(const char* label) { return named<QLabel>(label)->text(); }
  /// The field of the row of settings.
  QLineEdit* field(const char* key) { return named<QWidget>(key)->findChild<QLineEdit*>(); }
  QString error_of(const char* key) {
    const auto* label = named<QWidget>(key)->findChild<QLabel*>("error");
    return label->isVisible() ? label->text() : QString();
  }

  void click(QPushButton* button) {
    QVERIFY(button != nullptr && button->isVisible() && button->isEnabled());
    QTest::mouseClick(button, Qt::LeftButton);
  }
  void type(const char* key, const QString& text) {
    QLineEdit* edit = field(key);
    QTest::mouseClick(edit, Qt::LeftButton);
    QTest::keyClick(edit, Qt::Key_A, Qt::ControlModifier);
    QTest::keyClick(edit, Qt::Key_Delete);
    QTest::keyClicks(edit, text);
    QTest::keyClick(edit, Qt::Key_Escape); // of the completions
  }
  /// What a search of this spec comes to, asked for on the page with the keyboard.
  Job* search(const train::RunSpec& spec, const QString& strategy) {
    bench_.propose_run(spec);
    QTest::keyClicks(named<QComboBox>("strategy"), strategy);
    const qsizetype before = bench_.engine().jobs().size();
    QTest::keyClick(&page_, Qt::Key_F5);
    return bench_.engine().jobs().size() == before + 1 ? job() : nullptr;
  }

  Json stored_search(std::int64_t id) const { return Json::parse(store::RunReader(database()).search_json(id)); }

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
      page_.grab().save(QString("%1/find-%2-%3-%4x.png")
                            .arg(folder, name, mode == Theme::Mode::dark ? "dark" : "light")
                            .arg(page_.devicePixelRatioF()));
    }
    theme_.set_mode(Theme::Mode::light);
  }

private:
  QTemporaryDir folder_;
  Theme theme_;
  Workbench bench_{theme_, database()};
  FindPage page_{bench_};
};

} // namespace batchscope::ui::test
