#pragma once

#include <QLabel>
#include <QPointer>

namespace batchscope::ui {

/// The line below a field: its error, else a hint, else empty. It always takes one line, so an error does not move what
/// is below. The whole text of a longer error is shown over the widgets below while the field has the keyboard focus or
/// the pointer. UI thread.
class NoteLine : public QLabel {
  Q_OBJECT

public:
  /// `field` outlives this line, or is destroyed with it.
  NoteLine(QWidget& field, QWidget* parent);
  ~NoteLine() override;

  void show_note(const QString& text, bool wrong);
  /// Start of the text in px from the left; a text that does not fit there starts further left.
  void set_begin(int begin);
  /// Whether part of the text is not visible in the line.
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
  QPointer<QLabel> whole_; ///< over the widgets below
  bool wrong_ = false;
  int begin_ = 0;
};

} // namespace batchscope::ui
