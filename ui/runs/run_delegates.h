#pragma once

#include <QStyledItemDelegate>

namespace batchscope::ui {

class Theme;

/// A run's status as shape, word and colour; what needs a look and what goes on stands in a coloured field, which for a
/// running run fills with its progress.
class StatusDelegate : public QStyledItemDelegate {
  Q_OBJECT

public:
  explicit StatusDelegate(const Theme& theme, QObject* parent = nullptr);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
  const Theme& theme_;
};

/// A text that can be edited in place. A change of the run underneath does not touch what is being typed. A run that is
/// plotted carries its line's colour and dashes.
class TextDelegate : public QStyledItemDelegate {
  Q_OBJECT

public:
  explicit TextDelegate(const Theme& theme, QObject* parent = nullptr);
  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  void setEditorData(QWidget* editor, const QModelIndex& index) const override;

protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
  const Theme& theme_;
};

} // namespace batchscope::ui
