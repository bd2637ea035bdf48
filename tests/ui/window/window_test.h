#pragma once

#include <memory>

#include <QAction>
#include <QApplication>
#include <QLineEdit>
#include <QStackedWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QUndoStack>
#include <QVBoxLayout>

#include "ui/widgets/widgets.h"
#include "ui/window/main_window.h"
#include "ui/workbench_test.h"

namespace batchscope::ui::test {

/// A page that keeps a text, and has a command of its own.
class FakePage : public Page {
public:
  FakePage(QString key, QString title, QString icon)
      : key_(std::move(key)), title_(std::move(title)), icon_(std::move(icon)), edit(new QLineEdit(this)),
        command(new QAction("Command of " + title_, this)) {
    auto* layout = new QVBoxLayout(this);
    layout->addWidget(page_title(title_, this));
    layout->addWidget(edit);
    layout->addStretch();
    setFocusProxy(edit);
    edit->setText("fresh");
    command->setShortcut(QKeySequence("F5"));
    command->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(command);
  }

  QString key() const override { return key_; }
  QString title() const override { return title_; }
  QString icon() const override { return icon_; }
  QList<QAction*> page_actions() const override { return {command}; }
  QUndoStack* undo_stack() override { return &undo; }
  QJsonObject state() const override { return {{"text", edit->text()}}; }
  bool shows_problem(const QString& problem) const override { return !told.isEmpty() && problem.contains(told); }
  void restore(const QJsonObject& state) override { edit->setText(state.value("text").toString(edit->text())); }

private:
  QString key_, title_, icon_;

public:
  QUndoStack undo;
  QLineEdit* edit;
  QAction* command;
  QString told; ///< a problem that the page shows itself
};

/// A window with three such pages on a database in a folder of its own; close() and open() as often as wanted.
class WindowHere {
public:
  WindowHere() { theme_.apply_to(*qApp); }

  void open() {
    bench_ = std::make_unique<Workbench>(theme_, database());
    pages_ = {new FakePage("runs", "Runs", "runs"), new FakePage("live", "Live", "live"),
              new FakePage("schedule", "Schedule", "schedule")};
    window_ = std::make_unique<MainWindow>(theme_, *bench_, Settings(settings_file()),
                                           QList<Page*>(pages_.begin(), pages_.end()));
    window_->show();
    if (!QTest::qWaitForWindowActive(window_.get()))
      qFatal("the window is not shown");
  }
  void destroy() {
    window_.reset();
    bench_.reset();
  }

  std::filesystem::path database() const { return folder_.filePath("runs.db").toStdString(); }
  QString settings_file() const { return folder_.filePath("config/window.json"); }
  const QTemporaryDir& folder() const { return folder_; }
  Theme& theme() { return theme_; }
  Workbench& bench() { return *bench_; }
  MainWindow& window() { return *window_; }
  FakePage& page(int index) { return *pages_[index]; }
  Banner& banner() { return *window_->findChild<Banner*>(); }
  QAction* action(const QString& text) {
    for (QAction* each : window_->all_actions()) {
      if (each->text().remove('&') == text)
        return each;
    }
    qFatal("no action %s", qPrintable(text));
  }

  static run::RunSpec small_run(std::int64_t steps) {
    run::RunSpec spec = test::small_run(steps);
    spec.name = "small";
    return spec;
  }

private:
  QTemporaryDir folder_;
  Theme theme_;
  std::unique_ptr<Workbench> bench_;
  QList<FakePage*> pages_;
  std::unique_ptr<MainWindow> window_;
};

} // namespace batchscope::ui::test
