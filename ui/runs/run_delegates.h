#pragma once

#include "ui/widgets/widgets.h"

namespace batchscope::ui {

class Theme;

/// Shows a run's status as icon, word and colour. Running runs and runs that need attention have a coloured background,
/// which fills with the progress of a running run.
class StatusDelegate : public CellDelegate {
  Q_OBJECT

public:
  explicit StatusDelegate(const Theme& theme, QObject* parent = nullptr);
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;

protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override;

private:
  const Theme& theme_;
};

/// A text that can be edited in place. Changes of the run do not affect what is being typed. A plotted run shows its
/// line's colour and dashes.
class TextDelegate : public CellDelegate {
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
