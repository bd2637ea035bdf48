#pragma once

#include <optional>

#include "ui/memory/forecaster.h"
#include "ui/new_run/data_file.h"
#include "ui/new_run/run_panel.h"

class QLabel;

namespace batchscope::ui {

class ForecastCard;
class Workbench;

/// The form of a built-in network, with a summary of the run and a forecast of its memory. UI thread.
class NetworkPanel : public RunPanel {
  Q_OBJECT

public:
  explicit NetworkPanel(Workbench& workbench, QWidget* parent = nullptr);

  void show_form() override;
  void show_waiting(const QString& job) override;
  /// Asks for a file to train on. `kind`: which files the dialog shows first.
  void ask_for_data(std::optional<DataKind> kind);

protected:
  void showEvent(QShowEvent* event) override;

private:
  QWidget* make_outlook();
  void make_forecast(Workbench& workbench);
  void add_browse_buttons();
  void request_forecast();
  void ask_for_model();

  QLabel* outlook_ = nullptr;
  ForecastCard* forecast_ = nullptr;
  Forecaster forecaster_;
};

} // namespace batchscope::ui
