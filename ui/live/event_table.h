#pragma once

#include <QJsonObject>
#include <QWidget>

#include <optional>

#include "ui/live/event_model.h"

class QComboBox;
class QTableView;

namespace batchscope::ui {

/// The events of a run as a table; selecting a row emits the event's index. UI thread.
class EventTable : public QWidget {
  Q_OBJECT

public:
  explicit EventTable(const Theme& theme, QWidget* parent = nullptr);

  void show(OpenRun* run);
  /// Selects an event's row and scrolls to it; removes the filter if it hides the event. Nothing: clears the selection.
  void choose(std::optional<int> number);
  void show_group(telemetry::EventGroup group);

  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void chosen(int number); ///< index into the run's events(); by the user

private:
  void set_widths();
  void show_all_in_use();

  EventModel* model_;
  EventFilter* filter_;
  QTableView* table_;
  QComboBox* groups_;
  bool choosing_ = false; ///< choose() is changing the selection, not the user
};

} // namespace batchscope::ui
