#pragma once

#include <QLabel>
#include <QPointer>

namespace batchscope::ui {

/// The line beneath a field: what is wrong with it, else a hint, else nothing. It always takes one line, so that an
/// error moves nothing that is below. Of an error that is longer the whole text stands over what is below while the
/// keyboard or the pointer is in the field. UI thread.
class NoteLine : public QLabel {
  Q_OBJECT

public:
  /// `field` outlives it, or goes together with it.
  NoteLine(QWidget& field, QWidget* parent);
  ~NoteLine() override;

  void show_note(const QString& text, bool wrong);
  /// Where a text begins, in px from the left; one that does not fit there begins further left.
  void set_begin(int begin);
  /// Whether a part of the text cannot be seen in the line.
  bool cut() const;

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  bool event(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  void show_whole();
  QWidget& ground() const;

  QWidget& field_;
  QPointer<QLabel> whole_; ///< over what is below
  bool wrong_ = false;
  int begin_ = 0;
};

} // namespace batchscope::ui
