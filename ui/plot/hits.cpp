#include "ui/plot/detail/hits.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>

#include "ui/plot/ticks.h"

namespace batchscope::ui {

namespace {

constexpr double near_point = 8; ///< px
constexpr double near_line = 4;  ///< px

class Texts {
  Q_DECLARE_TR_FUNCTIONS(batchscope::ui::LinkedPlots)
};

QString place_text(const Picture& picture, double x) {
  const QString& label = picture.scene.x_label;
  const QString place = x_text(x, picture.view.values());
  const bool speaks_for_itself = label.isEmpty() || picture.view.values() == XValues::clock;
  return speaks_for_itself ? place : Texts::tr("%1 %2").arg(label, place);
}

QString mark_text(const Picture& picture, const PlotMark& mark) {
  QStringList lines;
  switch (mark.kind) {
  case PlotMark::Kind::oom:
    lines << Texts::tr("Out of memory");
    break;
  case PlotMark::Kind::edit:
    lines << Texts::tr("Edit");
    break;
  case PlotMark::Kind::evaluation:
    lines << Texts::tr("Evaluation");
    break;
  case PlotMark::Kind::fits:
  case PlotMark::Kind::answer:
  case PlotMark::Kind::note:
    break;
  }
  if (!mark.label.isEmpty())
    lines << mark.label;
  lines << place_text(picture, mark.x);
  if (mark.y && mark.panel >= 0)
    lines << Texts::tr("%1: %2").arg(picture.panels[static_cast<std::size_t>(mark.panel)]->spec.heading(),
                                     number_text(*mark.y));
  return lines.join(QLatin1Char('\n'));
}

/// Text for a value that is not finite, marked at the upper edge.
QString bad_text(const Picture& picture, const Panel& panel, int number, const QPointF& at) {
  if (at.y() > panel.area().top() + 2 * near_point)
    return {};
  for (const auto& curve : picture.curves) {
    if (curve->panel != number || curve->hidden)
      continue;
    for (std::size_t i = 0; i < curve->samples.bad_x.size(); ++i)
      if (std::abs(panel.x_pixel(curve->samples.bad_x[i]) - at.x()) <= near_point)
        return Texts::tr("%1 is %2\n%3")
            .arg(curve->style.name.isEmpty() ? panel.spec.heading() : curve->style.name,
                 number_text(curve->samples.bad_y[i]), place_text(picture, curve->samples.bad_x[i]));
  }
  return {};
}

QString curve_text(const Picture& picture, const Panel& panel, int number, const QPointF& at) {
  const Curve* nearest = nullptr;
  double best = near_point;
  for (const auto& curve : picture.curves) {
    if (curve->panel != number || curve->hidden || curve->style.name.isEmpty())
      continue;
    const double away = curve->graph->selectTest(at, false); // -1: it has no points
    if (away >= 0 && away <= best) {
      best = away;
      nearest = curve.get();
    }
  }
  if (!nearest)
    return {};
  double x = panel.x_value(at.x());
  if (picture.view.values() == XValues::whole)
    x = std::round(x);
  const auto y = nearest->source->value_at(x);
  return y ? Texts::tr("%1: %2\n%3").arg(nearest->style.name, number_text(*y), place_text(picture, x)) : QString();
}

QString entry_text(const Picture& picture, const Curve& curve) {
  QString text = (curve.hidden ? Texts::tr("Show %1") : Texts::tr("Hide %1")).arg(curve.style.name);
  const bool elsewhere = std::any_of(picture.curves.begin(), picture.curves.end(), [&](const auto& other) {
    return other->panel != curve.panel && other->style.name == curve.style.name;
  });
  if (elsewhere && !picture.scene.shared_legend)
    text = Texts::tr("%1 (Ctrl: in all plots)").arg(text);
  return curve.style.help.isEmpty() ? text : curve.style.help + u'\n' + text;
}

} // namespace

const PlotMark* mark_at(const Picture& picture, const QPointF& at) {
  const PlotMark* nearest = nullptr;
  double best = near_point;
  const auto near =
      picture.scene.marks_within({picture.x_value(at.x() - near_point), picture.x_value(at.x() + near_point)});
  picture.each_panel([&](const Panel& panel, int number) {
    for (const PlotMark& mark : near) {
      if ((mark.panel != -1 && mark.panel != number) || !picture.in_view(mark.x))
        continue;
      const double away = QLineF(at, mark_place(mark, panel)).length();
      if (away <= best) {
        best = away;
        nearest = &mark;
      }
    }
  });
  if (nearest || !picture.stack().contains(at))
    return nearest;
  best = near_line;
  for (const PlotMark& mark : near) {
    const double away = std::abs(picture.x_pixel(mark.x) - at.x());
    if (mark.through && picture.in_view(mark.x) && away <= best) {
      best = away;
      nearest = &mark;
    }
  }
  return nearest;
}

const PlotHandle* handle_at(const Picture& picture, const QPointF& at) {
  const PlotHandle* nearest = nullptr;
  double best = near_point;
  for (const PlotHandle& handle : picture.scene.handles) {
    const auto stretch = handle_stretch(picture, handle);
    if (!stretch)
      continue;
    const double beside = std::sqrt(QCPVector2D(at).distanceSquaredToLine(*stretch));
    const double away = std::min(QLineF(at, grip_of(handle, *stretch)).length(), beside * near_point / near_line);
    if (away <= best) {
      best = away;
      nearest = &handle;
    }
  }
  return nearest;
}

std::optional<std::size_t> cursor_at(const Picture& picture, const QPointF& at) {
  if (!picture.stack().contains(at))
    return std::nullopt;
  for (std::size_t i = 0; i < picture.scene.cursors.size(); ++i) {
    const auto& x = picture.scene.cursors[i];
    if (x && picture.in_view(*x) && std::abs(picture.x_pixel(*x) - at.x()) <= near_line)
      return i;
  }
  return std::nullopt;
}

std::optional<LegendEntry> legend_at(const Picture& picture, const QPointF& at) {
  std::optional<LegendEntry> found;
  const auto look_at = [&](const std::vector<LegendEntry>& entries) {
    for (const LegendEntry& entry : entries)
      if (entry.place.contains(at))
        found = entry;
  };
  look_at(shared_legend(picture));
  picture.each_panel([&](const Panel& panel, int number) { look_at(legend(picture, panel, number)); });
  return found;
}

QString tip_at(const Picture& picture, const QPointF& at) {
  if (const auto entry = legend_at(picture, at))
    return entry_text(picture, *entry->curve);
  if (const PlotMark* mark = mark_at(picture, at))
    return mark_text(picture, *mark);
  QString text;
  picture.each_panel([&](const Panel& panel, int number) {
    if (!panel.area().contains(at))
      return;
    text = bad_text(picture, panel, number, at);
    if (text.isEmpty())
      text = curve_text(picture, panel, number, at);
  });
  return text;
}

} // namespace batchscope::ui
