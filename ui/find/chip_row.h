#pragma once

#include <QList>
#include <QWidget>

namespace batchscope::ui {

class Pill;

/// What is searched, in a few words each; in a narrow window as many as there is room for. UI thread.
class ChipRow : public QWidget {
  Q_OBJECT

public:
  struct Chip {
    QString text;
    QString tip;
  };

  explicit ChipRow(QWidget* parent = nullptr);
  void set_chips(const QList<Chip>& chips);
  QSize sizeHint() const override; ///< with all of them

protected:
  bool event(QEvent* event) override; ///< other fonts
  void resizeEvent(QResizeEvent* event) override;

private:
  void fit();

  QList<Pill*> pills_;
};

} // namespace batchscope::ui
