#pragma once

#include <QAbstractTableModel>
#include <QPointer>
#include <QSortFilterProxyModel>
#include <QTimer>

#include <deque>
#include <memory>
#include <optional>

#include "core/series/history.h"
#include "ui/live/event_cells.h"
#include "ui/opened_runs/open_run.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

/// The events of a run, the newest first. UI thread.
class EventModel : public QAbstractTableModel {
  Q_OBJECT

public:
  enum Column { step, what, before, after, requested, in_use, details, column_count };
  enum Role {
    number_role = Qt::UserRole, ///< index into the run's events()
    group_role,                 ///< int of telemetry::EventGroup
    alarming_role
  };

  explicit EventModel(const Theme& theme, QObject* parent = nullptr);

  void show(OpenRun* run); ///< null: none
  /// Adds new events now. This also happens automatically once pending UI events are handled, for many events at once.
  void take_new();
  int row_of(int number) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
  const EventCells& cells(int number) const;
  QVariant shown_text(int number, Column column) const;
  QVariant color(int number, Column column) const;

  const Theme& theme_;
  QPointer<OpenRun> run_;
  std::shared_ptr<const series::History> history_;
  QTimer coming_;
  int shown_ = 0;
  mutable std::deque<std::optional<EventCells>> cells_; ///< created when first shown; most rows never are
};

/// Shows only the events of one group.
class EventFilter : public QSortFilterProxyModel {
  Q_OBJECT

public:
  using QSortFilterProxyModel::QSortFilterProxyModel;
  void show_group(telemetry::EventGroup group);
  telemetry::EventGroup group() const { return group_; }

protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
  telemetry::EventGroup group_ = telemetry::EventGroup::all;
};

} // namespace batchscope::ui
