#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

namespace batchscope::ui {

/// Rows whose text has all words of what was typed, in any order; the best match first, and among equals
/// what can be triggered.
class CommandFilter : public QSortFilterProxyModel {
  Q_OBJECT

public:
  /// Of a row: false where the command cannot be triggered now.
  static constexpr int enabled_role = Qt::UserRole + 3;

  using QSortFilterProxyModel::QSortFilterProxyModel;

  void set_words(const QString& words);
  /// How well a text matches, 0 best; -1: not at all. A word counts most where a word of the text begins with it, less
  /// inside one, least with its letters merely in order from the beginning of one (`lgr` for "log axis right").
  static int score(const QString& text, const QStringList& words);

protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
  QStringList words_;
};

} // namespace batchscope::ui
