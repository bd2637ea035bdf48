#pragma once

#include <QAbstractTableModel>
#include <QHash>
#include <QList>
#include <QTimer>

#include <cstdint>
#include <optional>
#include <vector>

#include "core/store/run_store.h"

namespace batchscope::ui {

class Theme;

/// The runs of the database as a table, one row each, by their number. Rows that changed are compared with the old
/// ones, and no others are touched, so that views keep selection, scroll position and open editors. Name and note can
/// be edited. UI thread.
class RunTableModel : public QAbstractTableModel {
  Q_OBJECT

public:
  enum ItemRole {
    progress_role = Qt::UserRole, ///< of a running run: 0..1; invalid where it is not known
    status_role,                  ///< the status as stored, for drawing
    series_role,                  ///< index of the run's colour and dashes while it is plotted; invalid else
  };

  explicit RunTableModel(const Theme& theme, QObject* parent = nullptr);

  /// In ascending order of their numbers, as RunReader::list() has them.
  void set_runs(const std::vector<store::RunRow>& runs);
  /// New rows and others for those that are there, and rows that are not there any more. Costs as many as these are.
  void change_runs(const std::vector<store::RunRow>& runs, const std::vector<std::int64_t>& removed);
  /// Whether names and notes can be edited: not where the database cannot be written.
  void set_editable(bool editable) { editable_ = editable; }
  /// Rows that were compared with what they were before, so far.
  std::uint64_t compared() const { return compared_; }
  /// How many steps a running run will make, where that is known.
  void set_expected_steps(std::int64_t run, std::int64_t steps);
  /// The runs that are plotted now.
  void set_plotted(const QList<qint64>& runs);

  const store::RunRow& run(int row) const { return rows_[static_cast<std::size_t>(row)].run; }
  /// -1 where it is not there.
  int row_of(std::int64_t run) const;
  /// All that is shown of a run, in lower case, to be searched for words. Like the name's key, it is made while nothing
  /// else is to be done, or else when it is first asked for.
  const QString& words(int row) const;
  /// For sorting by name: whatever the case, and with numbers in their order.
  const QString& name_key(int row) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;
  /// Shows the new name or note at once and asks for it to be stored: see the signals.
  bool setData(const QModelIndex& index, const QVariant& value, int role = Qt::EditRole) override;

Q_SIGNALS:
  void renamed(qint64 run, const QString& before, const QString& name);
  void annotated(qint64 run, const QString& before, const QString& note);

private:
  struct Row {
    store::RunRow run;
    mutable QString words;    ///< empty: to be made
    mutable QString name_key; ///< empty: to be made
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
  QList<int> looks_; ///< of these
  QTimer idle_{this};
  std::uint64_t compared_ = 0;
  bool editable_ = true;
  int prepared_ = 0; ///< rows before this have words and key, but for those that changed since
};

} // namespace batchscope::ui
