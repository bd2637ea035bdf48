#pragma once

#include <QAbstractTableModel>
#include <QHash>
#include <QList>
#include <QTimer>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/store/run_row.h"

namespace batchscope::ui {

class Theme;

/// The runs of the database as a table, one row per run, by number. Updates compare only the changed rows with the old
/// ones and touch no others, so views keep selection, scroll position and open editors. Name and note can be edited. UI
/// thread.
class RunTableModel : public QAbstractTableModel {
  Q_OBJECT

public:
  enum ItemRole {
    progress_role = Qt::UserRole, ///< of a running run: 0..1; invalid if unknown
    status_role,                  ///< the stored status, for drawing
    series_role,                  ///< index of the run's colour and dashes while it is plotted; else invalid
  };

  explicit RunTableModel(const Theme& theme, QObject* parent = nullptr);

  /// In ascending order of their numbers, as RunReader::list() returns them.
  void set_runs(const std::vector<store::RunRow>& runs);
  /// Adds and updates `runs`, and removes `removed`. The cost depends on the number of these only.
  void change_runs(const std::vector<store::RunRow>& runs, const std::vector<std::int64_t>& removed);
  /// Resets the model without changing it: whoever filters it evaluates all rows again.
  void announce_reset();
  /// Whether names and notes can be edited: not if the database is read-only.
  void set_editable(bool editable) { editable_ = editable; }
  /// Number of rows compared with their earlier values so far.
  std::uint64_t compared() const { return compared_; }
  /// Sets the total number of steps of a running run, if known.
  void set_expected_steps(std::int64_t run, std::int64_t steps);
  /// Sets the runs that are currently plotted.
  void set_plotted(const QList<qint64>& runs);

  const store::RunRow& run(int row) const { return rows_[static_cast<std::size_t>(row)].run; }
  /// -1 if there is no such run.
  int row_of(std::int64_t run) const;
  /// All texts of a run's row in lower case, for searching. Like the name's key, it is computed when idle, or else when
  /// first needed.
  const QString& words(int row) const;
  /// Sort key of the name: ignores case, with embedded numbers in numeric order.
  const QString& name_key(int row) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  /// Shows the new name or note at once and emits a signal to have it stored.
  bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;

Q_SIGNALS:
  void renamed(qint64 run, const QString& before, const QString& name);
  void annotated(qint64 run, const QString& before, const QString& note);

private:
  struct Row {
    store::RunRow run;
    mutable QString words;    ///< empty: not computed
    mutable QString name_key; ///< empty: not computed
  };

  void prepare_some();

  void remove_missing(const std::vector<store::RunRow>& runs);
  void insert_new(const std::vector<store::RunRow>& runs);
  void remove(std::int64_t run);
  void insert_or_update(const store::RunRow& run);
  void update(int row, const store::RunRow& run);
  std::optional<double> progress(const store::RunRow& run) const;
  QVariant foreground(const store::RunRow& run, int column) const;
  QVariant tool_tip(const store::RunRow& run, int column) const;

  const Theme& theme_;
  std::vector<Row> rows_;
  QHash<qint64, qint64> expected_steps_;
  QList<qint64> plotted_;
  QList<int> looks_; ///< of the plotted runs
  QTimer idle_{this};
  std::uint64_t compared_ = 0;
  bool editable_ = true;
  int prepared_ = 0; ///< rows before this have words and key, except those that changed since
};

} // namespace batchscope::ui
