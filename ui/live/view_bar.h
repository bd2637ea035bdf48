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
  explicit ViewBar(QWidget* parent = nullptr);

  series::Axis axis() const;
  double smoothing() const; ///< weight, 0 <= weight < 1
  bool log_loss() const;
  bool clipping() const;
  bool following() const;

  void set_axis(series::Axis axis);
  void set_following(bool following); ///< tells nobody
  QList<QAction*> view_actions() const;

  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void axis_changed();
  void smoothing_changed();
  void scale_changed(); ///< log_loss() or clipping()
  void following_changed(bool following);

private:
  QCheckBox* add_switch(QAction* action, const char* name);
  void make_axis_actions();

  QComboBox* axis_;
  QSlider* smoothing_;
  QLabel* smoothing_value_;
  QActionGroup* axis_actions_;
  QAction* log_;
  QAction* clip_;
  QAction* follow_;
};

} // namespace batchscope::ui
