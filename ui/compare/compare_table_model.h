#pragma once

#include <QAbstractTableModel>
#include <QJsonObject>
#include <QMap>

#include <optional>
#include <vector>

#include "ui/compare/comparison_view.h"

namespace batchscope::ui {

class Theme;

/// The compared runs, or groups of them, in rows; fields in columns: by default those settings and results in which the
/// shown runs differ. With a baseline, each result is followed by its difference. UI thread.
class CompareTableModel : public QAbstractTableModel {
  Q_OBJECT

public:
  enum ItemRole {
    series_role = Qt::UserRole, ///< of the first column: index of the run's colour and dashes; else invalid
    marked_role,                ///< whether the row's runs are marked
  };

  CompareTableModel(const Theme& theme, ComparisonView& view, QObject* parent = nullptr);

  /// The number of a row's run, or of a group's first one; also right while the model is about to be reset.
  qint64 id(int row) const { return rows_[static_cast<std::size_t>(row)].id; }
  /// The runs of a row.
  const std::vector<std::size_t>& runs(int row) const { return rows_[static_cast<std::size_t>(row)].runs; }
  /// The key of a column's field; empty for the first one.
  QString key(int column) const;

  // Choices of the user, all kept in state().
  void set_only_differing(bool on);
  bool only_differing() const { return only_differing_; }
  /// Shows or hides a field, whatever the default.
  void set_shown(const QString& key, bool shown);
  bool is_shown(const CompareField& field) const;
  void reset_columns();
  void set_baseline(std::optional<qint64> run);
  std::optional<qint64> baseline() const { return baseline_; }

  QJsonObject state() const;
  void restore(const QJsonObject& state);

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;
  void sort(int column, Qt::SortOrder order) override;

Q_SIGNALS:
  void columns_changed();

private:
  struct Row {
    std::vector<std::size_t> runs; ///< one, or those of a group that are shown
    std::size_t group = 0;         ///< its index, if runs are grouped
    qint64 id = 0;                 ///< of the first of the runs
  };
  struct Column {
    enum class Kind { name, count, field, difference };
    Kind kind = Kind::name;
    int field = -1; ///< index of the comparison's field
  };

  void rebuild();
  void make_columns();
  void sort_rows();
  bool shown_by_default(const CompareField& field) const;
  bool grouped() const { return !view_.groups().field.isEmpty(); }
  const CompareField& field(const Column& column) const;
  std::optional<double> number(const Row& row, const CompareField& field) const;
  QString count_text(const Row& row) const;
  std::optional<std::size_t> baseline_run() const;
  QString field_text(const Row& row, const CompareField& field) const;
  QString difference_text(const Row& row, const CompareField& field) const;
  QVariant difference_color(const Row& row, const CompareField& field) const;
  QString name_of(const Row& row) const;
  bool less(const Row& a, const Row& b) const;

  const Theme& theme_;
  ComparisonView& view_;
  std::vector<Row> rows_;
  std::vector<Column> columns_;
  bool only_differing_ = true;
  QMap<QString, bool> shown_; ///< the user's choice, by key
  std::optional<qint64> baseline_;
  QString sort_key_; ///< of a field; empty: name
  Qt::SortOrder order_ = Qt::AscendingOrder;
  bool sorted_ = false; ///< by the user
};

} // namespace batchscope::ui
