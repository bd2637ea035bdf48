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

class PlotChooser;

/// Controls for the plots: x axis, smoothing, scales and which plots there are, in one line, and the same as actions.
/// UI thread.
class ViewBar : public QWidget {
  Q_OBJECT

public:
  /// `log` and `follow` are the plots' own actions, shown as check boxes beside the bar's own.
  ViewBar(QAction* log, QAction* follow, QWidget* parent = nullptr);

  series::Axis axis() const;
  double smoothing() const; ///< weight, 0 <= weight < 1
  bool clipping() const;
  bool by_stream() const; ///< whether curves of the single data streams are drawn
  /// The control for by_stream() is there only for runs that have several.
  void set_has_streams(bool has_streams);

  PlotChooser& plots() { return *plots_; }

  QList<QAction*> view_actions() const; ///< the bar's own actions

  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void axis_changed();
  void smoothing_changed();
  void clipping_changed();
  void by_stream_changed();

protected:
  void resizeEvent(QResizeEvent* event) override;

private:
  QLabel* add_word(const QString& text);
  QCheckBox* add_box(QAction* action, const char* name);
  void make_axis_actions();

  QList<QLabel*> words_; ///< beside the controls, shown if there is room
  QComboBox* axis_;
  QSlider* smoothing_;
  QLabel* smoothing_value_;
  QActionGroup* axis_actions_;
  PlotChooser* plots_;
  QAction* choose_plots_;
  QAction* log_;
  QAction* clip_;
  QAction* by_stream_;
  QCheckBox* by_stream_box_;
};

} // namespace batchscope::ui
