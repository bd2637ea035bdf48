#pragma once

#include <QPlainTextEdit>

namespace batchscope::ui {

/// The last that a program wrote, as a terminal shows it, scrolled to its end. As high as its lines, which are wrapped,
/// up to a limit; hidden if there are none. UI thread.
class OutputBox : public QPlainTextEdit {
  Q_OBJECT

public:
  /// `most_lines` are visible at once.
  explicit OutputBox(int most_lines, QWidget* parent = nullptr);

  void show_output(const QString& output);

protected:
  void resizeEvent(QResizeEvent* event) override;

private:
  void fit();

  int most_lines_;
};

} // namespace batchscope::ui
