#pragma once

#include <QList>
#include <QWidget>

namespace batchscope::ui {

class Pill;

/// A short description of what is searched; in a narrow window, as many parts as fit. UI thread.
class ChipRow : public QWidget {
  Q_OBJECT

public:
  struct Chip {
    QString text;
    QString tip;
  };

  explicit ChipRow(QWidget* parent = nullptr);
  void set_chips(const QList<Chip>& chips);
  QSize sizeHint() const override; ///< with all chips

protected:
  bool event(QEvent* event) override; ///< font changes
  void resizeEvent(QResizeEvent* event) override;

private:
  void fit();

  QList<Pill*> pills_;
};

} // namespace batchscope::ui
