#pragma once

#include <QKeySequence>
#include <QTableView>
#include <QTimer>

#include "ui/widgets/widgets.h"

namespace batchscope::ui {

/// Role of models: the address (QUrl) that a cell's text leads to.
inline constexpr int address_role = Qt::UserRole + 100;

/// Table cells that show their texts whole, in as many lines as they take; those with an address look like links.
class WrappedDelegate : public RowDelegate {
  Q_OBJECT

public:
  using RowDelegate::RowDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  bool helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                 const QModelIndex& index) override;
};

/// A table of sentences: its rows are as high as their texts. A click on a cell with an address opens it; by keys,
/// open_keys() open that of the current row. UI thread.
class TextTable : public QTableView {
  Q_OBJECT

public:
  explicit TextTable(const Theme& theme, QWidget* parent = nullptr);
  static QKeySequence open_keys();
  void setModel(QAbstractItemModel* model) override;
  /// Shares the width out among all columns, more to those with longer texts; else the header's modes decide.
  void share_out_width();

protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override; // fonts
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

private:
  QUrl address_in(int row) const; ///< the first in the row; empty if there is none
  void open_current() const;
  void fit_columns();

  bool shares_out_ = false;
  bool clicked_twice_ = false; ///< the second click of two opens nothing again
  QTimer fit_rows_;            ///< once after all columns have changed
};

} // namespace batchscope::ui
