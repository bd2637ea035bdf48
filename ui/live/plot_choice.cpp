#include "ui/live/plot_choice.h"

#include <QJsonObject>

#include <algorithm>
#include <string_view>

#include "ui/plot/units.h"

namespace batchscope::ui {

bool has_plot(const PlotChoices& choices, const QString& key) {
  return std::any_of(choices.begin(), choices.end(), [&key](const PlotChoice& choice) { return choice.key == key; });
}

PlotChoices usual_plots() {
  PlotChoices usual;
  for (const char* key : {"memory", "memory_parts", "loss", "batch", "train_coverage", "others"})
    usual += PlotChoice{.key = QLatin1String(key), .shown = key != std::string_view("memory_parts")};
  return usual;
}

std::string series_of_plot(const QString& key) {
  return key.startsWith(series_prefix) ? key.mid(series_prefix.size()).toStdString() : std::string();
}

SeriesLook series_look(const std::string& series) {
  const telemetry::ValueKind kind = telemetry::quantity_of(series).kind;
  const PlotUnit unit = plot_unit(kind);
  QString title = series_title(QString::fromStdString(series));
  if (kind == telemetry::ValueKind::bytes && title.endsWith(QLatin1String(" bytes"))) // the unit says it
    title.chop(6);
  return {title, unit.name, unit.factor};
}

QJsonArray to_json(const PlotChoices& choices) {
  QJsonArray array;
  for (const PlotChoice& choice : choices)
    array += QJsonObject{{"key", choice.key}, {"shown", choice.shown}, {"large", choice.large}};
  return array;
}

PlotChoices plot_choices_from(const QJsonArray& array) {
  const PlotChoices usual = usual_plots();
  PlotChoices choices;
  for (const auto& value : array) {
    const QJsonObject object = value.toObject();
    const QString key = object.value("key").toString();
    const bool known = has_plot(usual, key) || !series_of_plot(key).empty();
    if (known && !has_plot(choices, key))
      choices += PlotChoice{key, object.value("shown").toBool(true), object.value("large").toBool(false)};
  }
  for (const PlotChoice& choice : usual)
    if (!has_plot(choices, choice.key))
      choices += choice;
  return choices;
}

} // namespace batchscope::ui
