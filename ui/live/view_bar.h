#pragma once

#include <QJsonObject>
#include <QList>
#include <QWidget>

#include "core/series/history.h"

class QAction;
class QActionGroup;
class QCheckBox;
class QComboBox;
class QLabel;
class QSlider;

namespace batchscope::ui {

/// How the curves are looked at: along which axis, how smooth, how scaled. One line of controls, and the same as
/// actions. UI thread.
class ViewBar : public QWidget {
  Q_OBJECT

public:
  /// `log` and `follow` are the plots' own, and shown as boxes beside what the bar has itself.
  ViewBar(QAction* log, QAction* follow, QWidget* parent = nullptr);

  series::Axis axis() const;
  double smoothing() const; ///< weight, 0 <= weight < 1
  bool clipping() const;

  QList<QAction*> view_actions() const; ///< the bar's own

  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void axis_changed();
  void smoothing_changed();
  void clipping_changed();

protected:
  void resizeEvent(QResizeEvent* event) override;

private:
  QLabel* add_word(const QString& text);
  QCheckBox* add_box(QAction* action, const char* name);
  void make_axis_actions();

  QList<QLabel*> words_; ///< before the controls, where there is room
  QComboBox* axis_;
  QSlider* smoothing_;
  QLabel* smoothing_value_;
  QActionGroup* axis_actions_;
  QAction* log_;
  QAction* clip_;
};

} // namespace batchscope::ui
