#pragma once

#include <QJsonObject>
#include <QUndoStack>

#include <optional>

#include "core/run/run_spec.h"
#include "ui/memory/forecaster.h"
#include "ui/new_run/data_file.h"
#include "ui/workbench/page.h"

class QComboBox;
class QLabel;
class QPushButton;
class QScrollArea;

namespace batchscope::ui {

class Card;
class CommandCard;
class FieldHelp;
class ForecastCard;
class Job;
class SpecForm;
class Workbench;

/// A form for everything that determines a run, with presets, the equivalent command line, and buttons that start the
/// run or search for its batch size first. UI thread.
class NewRunPage : public Page {
  Q_OBJECT

public:
  explicit NewRunPage(Workbench& workbench, QWidget* parent = nullptr);

  QString key() const override { return QStringLiteral("new-run"); }
  QString title() const override { return tr("New run"); }
  QString icon() const override { return QStringLiteral("new-run"); }
  QList<QAction*> page_actions() const override { return actions_; }
  QUndoStack* undo_stack() override { return &undo_; }
  bool shows_problem(const QString& problem) const override {
    return !start_error_.isEmpty() && problem.contains(start_error_);
  }
  QJsonObject state() const override;
  void restore(const QJsonObject& state) override;

  void start();
  void search();
  void sweep(); ///< hands the settings to the Sweep page
  void copy_command();
  /// Both report errors through Workbench::problem(); they read or write the file at once.
  void load(const QString& file);
  void save(const QString& file);

protected:
  void showEvent(QShowEvent* event) override;

private:
  void make_actions();
  QAction* add_action(const QString& text, const QString& icon, const QString& help, const QKeySequence& shortcut,
                      void (NewRunPage::*slot)());
  QWidget* make_header();
  QWidget* make_side();
  void fill_presets();
  void choose_preset(int index);
  void fill_form(const run::RunSpec& spec, const QString& from);
  void note_edit();
  void show_form();
  void show_read_only();
  void show_waiting();
  void request_forecast();
  void watch(Job* job);
  void show_failure(const Job& job);
  void ask_for_data(std::optional<DataKind> kind);
  void ask_for_model();
  void ask_to_load();
  void ask_to_save();
  void reset();

  Workbench& workbench_;
  QList<QAction*> actions_;
  QAction* start_ = nullptr;
  QAction* search_ = nullptr;
  QAction* sweep_ = nullptr;
  QAction* copy_ = nullptr;
  QAction* load_ = nullptr;
  QAction* save_ = nullptr;
  QComboBox* presets_ = nullptr;
  QScrollArea* scroll_ = nullptr;
  SpecForm* form_;
  Card* outlook_ = nullptr;
  QLabel* outlook_text_ = nullptr;
  ForecastCard* forecast_ = nullptr;
  Forecaster forecaster_;
  FieldHelp* help_ = nullptr;
  CommandCard* command_ = nullptr;
  std::optional<run::RunSpec> last_started_;

  QString start_error_;  ///< error of the last start, while a field shows it
  QUndoStack undo_;      ///< for the form's contents
  QJsonObject texts_;    ///< of the form after the last step of undo_
  QString filling_from_; ///< set while the whole form is being filled
  bool taking_back_ = false;
  bool own_settings_ = false; ///< the form has settings that the user typed, not just a preset
};

} // namespace batchscope::ui
