#pragma once

#include <QList>
#include <QPushButton>

#include "ui/live/plot_choice.h"

class QAction;
class QListWidget;

namespace batchscope::ui {

/// A plot that the opened runs have values for.
struct OfferedPlot {
  QString key;
  QString title;
  bool operator==(const OfferedPlot&) const = default;
};

/// A button that opens the list of plots: which are shown, in what order, and which are large. UI thread.
class PlotChooser : public QPushButton {
  Q_OBJECT

public:
  explicit PlotChooser(QWidget* parent = nullptr);

  /// What the list offers: what is chosen already and not here stays chosen, but is not listed.
  void offer(const QList<OfferedPlot>& plots);
  const PlotChoices& choices() const { return choices_; }
  void choose(const PlotChoices& choices);
  void open();

Q_SIGNALS:
  void opening(); ///< time to offer() what there is
  void chosen();  ///< choices() has changed

protected:
  bool eventFilter(QObject* watched, QEvent* event) override; // of the list and its buttons

private:
  QWidget* make_list();
  void fill();
  void take();            ///< the list's state becomes the choices
  void move_plot(int by); ///< the current one, up or down
  void update_buttons();
  void change(const PlotChoices& choices);

  QList<OfferedPlot> offered_;
  PlotChoices choices_ = usual_plots();
  QWidget* popup_ = nullptr;
  QListWidget* list_ = nullptr;
  QPushButton* up_ = nullptr;
  QPushButton* down_ = nullptr;
  QPushButton* large_ = nullptr;
  QPushButton* reset_ = nullptr;
  bool filling_ = false;
};

} // namespace batchscope::ui
