#include "ui/live/plot_choice.h"

#include <QCoreApplication>
#include <QJsonObject>

#include <algorithm>

#include "ui/plot/units.h"

namespace batchscope::ui {

namespace {

const PlotChoice* choice_of(const PlotChoices& choices, const QString& key) {
  const auto found =
      std::find_if(choices.begin(), choices.end(), [&key](const PlotChoice& choice) { return choice.key == key; });
  return found == choices.end() ? nullptr : &*found;
}

} // namespace

PlotChoices usual_plots() {
  PlotChoices usual;
  for (const char* key : {"memory", "loss", "batch", "train_coverage", "others"})
    usual += PlotChoice{.key = QLatin1String(key)};
  return usual;
}

std::string series_of_plot(const QString& key) {
  return key.startsWith(series_prefix) ? key.mid(series_prefix.size()).toStdString() : std::string();
}

SeriesLook series_look(const std::string& series) {
  const QString name = QString::fromStdString(series);
  SeriesLook look{.title = QString(name).replace(u'_', u' '), .unit = {}};
  if (name == QLatin1String("validation_accuracy") || name == QLatin1String("disturbed"))
    look = {look.title, QStringLiteral("%"), to_percent};
  else if (name.endsWith(QLatin1String("_bytes")))
    look = {look.title.chopped(6), QStringLiteral("MB"), to_megabytes};
  else if (name.endsWith(QLatin1String("seconds")))
    look.unit = QStringLiteral("s");
  return look;
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
    const bool known = choice_of(usual, key) != nullptr || !series_of_plot(key).empty();
    if (known && choice_of(choices, key) == nullptr)
      choices += PlotChoice{key, object.value("shown").toBool(true), object.value("large").toBool(false)};
  }
  for (const PlotChoice& choice : usual)
    if (choice_of(choices, choice.key) == nullptr)
      choices += choice;
  return choices;
}

} // namespace batchscope::ui
