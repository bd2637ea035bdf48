#pragma once

#include <QJsonObject>
#include <QUndoStack>

#include <optional>

#include "core/run/run_spec.h"
#include "ui/new_run/form_fields.h"
#include "ui/workbench/page.h"

class QButtonGroup;
class QComboBox;
class QPushButton;
class QStackedWidget;

namespace batchscope::ui {

class CommandCard;
class FieldEditor;
class Job;
class NetworkPanel;
class ProgramPanel;
class RunPanel;
class SpecForm;
class Workbench;

/// Forms for everything that determines a run of a built-in network or of the user's own program, with presets, the
/// equivalent command line, and buttons that start the run or search for its batch size first. UI thread.
class NewRunPage : public Page {
  Q_OBJECT

public:
  explicit NewRunPage(Workbench& workbench, QWidget* parent = nullptr);

  QString key() const override { return QStringLiteral("new-run"); }
  QString title() const override { return tr("New run"); }
  QString icon() const override { return QStringLiteral("new-run"); }
  QList<QAction*> page_actions() const override { return actions_; }
  QUndoStack* undo_stack() override { return &undo_; }
  bool shows_problem(const QString& problem) const override;
  QJsonObject state() const override;
  void restore(const QJsonObject& state) override;

  /// Shows the form of that kind.
  void choose(FormKind kind);
  FormKind chosen() const;

  void start();
  void search();
  void plan();  ///< hands the settings to the Schedule page
  void sweep(); ///< hands the settings to the Sweep page
  void test();  ///< of the user's own program; ends a test that works
  void copy_command();
  /// Both report errors through Workbench::problem(); they read or write the file at once.
  void load(const QString& file);
  void save(const QString& file);

protected:
  void showEvent(QShowEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

private:
  void make_actions();
  QAction* add_action(const QString& text, const QString& icon, const QString& help, const QKeySequence& shortcut,
                      void (NewRunPage::*slot)());
  QWidget* make_header();
  QWidget* make_choice();
  QWidget* make_panels();
  void connect_form(SpecForm& form);
  RunPanel& panel() const;
  SpecForm& form() const;
  void fill_presets();
  void choose_preset(int index);
  void fill_form(const run::RunSpec& spec, const QString& from);
  void note_edit(SpecForm& form);
  void show_form();
  void show_preset();
  void show_read_only();
  void show_waiting();
  void show_test();
  void show_plannable();
  void show_header();
  void watch(Job* job);
  void show_failure(const Job& job);
  void ask_to_load();
  void ask_to_save();
  void reset();

  Workbench& workbench_;
  QList<QAction*> actions_;
  QAction* start_ = nullptr;
  QAction* search_ = nullptr;
  QAction* sweep_ = nullptr;
  QAction* plan_ = nullptr;
  QAction* copy_ = nullptr;
  QAction* load_ = nullptr;
  QAction* save_ = nullptr;
  QAction* test_ = nullptr;
  QWidget* header_ = nullptr;
  QComboBox* presets_ = nullptr;
  QButtonGroup* choice_ = nullptr;
  QPushButton* load_button_ = nullptr;
  QPushButton* save_button_ = nullptr;
  QPushButton* test_button_ = nullptr;
  QStackedWidget* panels_ = nullptr;
  NetworkPanel* network_ = nullptr;
  ProgramPanel* program_ = nullptr;
  CommandCard* command_ = nullptr;
  std::optional<run::RunSpec> last_started_;

  QString start_error_;  ///< error of the last start, while a field shows it
  QUndoStack undo_;      ///< for the forms' contents
  QJsonObject texts_[2]; ///< of the forms, by kind, after the last step of undo_
  QString filling_from_; ///< set while the whole form is being filled
  bool taking_back_ = false;
  bool own_settings_ = false; ///< the form has settings that the user typed, not just a preset
};

} // namespace batchscope::ui
