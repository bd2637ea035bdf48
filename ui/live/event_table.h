#pragma once

#include <QJsonObject>
#include <QWidget>

#include <optional>

#include "ui/live/event_model.h"

class QComboBox;
class QTableView;

namespace batchscope::ui {

/// What happened in a run, a row an event; choosing one tells which. UI thread.
class EventTable : public QWidget {
  Q_OBJECT

public:
  explicit EventTable(const Theme& theme, QWidget* parent = nullptr);

  void show(OpenRun* run);
  /// Chooses an event's row and brings it into view; shows all events where it would be filtered out. Nothing: no row.
  void choose(std::optional<int> number);
  void show_group(EventGroup group);

  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void chosen(int number); ///< into the run's events(); by the user

private:
  void set_widths();

  EventModel* model_;
  EventFilter* filter_;
  QTableView* table_;
  QComboBox* groups_;
  bool choosing_ = false; ///< by choose(), not by the user
};

} // namespace batchscope::ui
