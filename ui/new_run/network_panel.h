#pragma once

#include <string>

#include "ui/memory/memory_predictor.h"
#include "ui/new_run/run_panel.h"

class QLabel;

namespace batchscope::ui {

class PredictionCard;
class Workbench;

/// The form of a built-in network, with a summary of the run and a prediction of its memory. UI thread.
class NetworkPanel : public RunPanel {
  Q_OBJECT

public:
  explicit NetworkPanel(Workbench& workbench, QWidget* parent = nullptr);

  void show_form() override;
  void show_waiting(const QString& job) override;
  /// Asks for a file to train on. `kind`: which files the dialog shows first, `csv`; empty: all.
  void ask_for_data(const std::string& kind);

protected:
  void showEvent(QShowEvent* event) override;

private:
  QWidget* make_summary();
  void make_prediction(Workbench& workbench);
  void add_browse_buttons();
  void request_prediction();
  void ask_for_model();

  QLabel* summary_ = nullptr;
  PredictionCard* prediction_ = nullptr;
  MemoryPredictor predictor_;
};

} // namespace batchscope::ui
