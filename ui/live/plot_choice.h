#pragma once

#include <QJsonArray>
#include <QList>
#include <QString>

#include <string>

namespace batchscope::ui {

/// A plot that the page Live can show.
struct PlotChoice {
  QString key; ///< that of a usual plot, or the name of a series after series_prefix
  bool shown = true;
  bool large = false; ///< twice as high as else
  bool operator==(const PlotChoice&) const = default;
};

/// All that the user has chosen among, from top to bottom.
using PlotChoices = QList<PlotChoice>;

inline constexpr QLatin1String series_prefix("series:");

bool has_plot(const PlotChoices& choices, const QString& key);

/// Those that there are for every run, from top to bottom, in the order of LivePanel.
PlotChoices usual_plots();

/// The series of the plot of a single one; empty for a usual plot.
std::string series_of_plot(const QString& key);

/// How a series is plotted: in which unit, and what one of its values is to be multiplied by for it.
struct SeriesLook {
  QString title; ///< "validation accuracy"
  QString unit;  ///< "%"; empty: none
  double scale = 1;

  QString heading() const { return title.left(1).toUpper() + title.mid(1); }
};
SeriesLook series_look(const std::string& series);

QJsonArray to_json(const PlotChoices& choices);
/// The reverse. What is not a choice is skipped, and usual plots that are missing follow at the end.
PlotChoices plot_choices_from(const QJsonArray& array);

} // namespace batchscope::ui
