#pragma once

#include <QWidget>

class QLabel;
class QLineEdit;
class QToolButton;

namespace batchscope::ui {

class OutputText;
class Theme;

/// Searches an output: the text to find, how often it occurs, and steps from one place to the next. Hidden until
/// open(). UI thread.
class OutputSearch : public QWidget {
  Q_OBJECT

public:
  OutputSearch(const Theme& theme, OutputText& text, QWidget* parent);

  void open(); ///< with the keyboard focus, for the text that is selected, if it is part of a line
  void close();

Q_SIGNALS:
  void toggled(bool open);

protected:
  bool eventFilter(QObject* watched, QEvent* event) override; ///< keys of the text and of the field

private:
  QToolButton* add_button(const QString& text, const QString& tip);
  void show_count();

  OutputText& text_;
  QLineEdit* field_;
  QLabel* count_;
  QToolButton* previous_;
  QToolButton* next_;
  QToolButton* close_;
};

} // namespace batchscope::ui
