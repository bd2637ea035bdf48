#pragma once

#include <QSortFilterProxyModel>
#include <QStringList>

namespace batchscope::ui {

/// Shows rows that contain all typed words in any order; the best match first, and among equals enabled commands first.
class CommandFilter : public QSortFilterProxyModel {
  Q_OBJECT

public:
  /// Role of a row: false if the command is disabled.
  static constexpr int enabled_role = Qt::UserRole + 3;
  /// Role of a row: other words by which it is found, a text.
  static constexpr int keywords_role = Qt::UserRole + 4;

  using QSortFilterProxyModel::QSortFilterProxyModel;

  void set_words(const QString& words);
  /// How well a text matches: 0 is best, -1 is no match. A word scores best at the beginning of a word of the text,
  /// worse inside one, worst if its letters only appear in order (`lgr` for "log axis right").
  static int score(const QString& text, const QStringList& words);

protected:
  bool filterAcceptsRow(int row, const QModelIndex& parent) const override;
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;

private:
  int score_of(const QModelIndex& row) const;

  QStringList words_;
};

} // namespace batchscope::ui
