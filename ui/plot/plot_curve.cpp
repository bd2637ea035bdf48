// Passes a curve's points from its source to the plotting library.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ui/plot/detail/panel.h"

namespace batchscope::ui {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

QColor mixed(const QColor& color, const QColor& with, double fraction) {
  const auto mix = [fraction](int a, int b) { return static_cast<int>(std::lround(a + (b - a) * fraction)); };
  return {mix(color.red(), with.red()), mix(color.green(), with.green()), mix(color.blue(), with.blue())};
}

/// Samples for a logarithmic axis: many pieces, each short enough that its pixels are nearly equally wide.
void sample_log(const CurveSource& source, const View& view, int pixels, series::Samples& samples) {
  constexpr int pieces = 32;
  samples.clear();
  series::Samples piece;
  const double first = to_place(view.range().first, true);
  const double width = to_place(view.range().second, true) - first;
  for (int i = 0; i < pieces; ++i) {
    const double from = to_value(first + width * i / pieces, true);
    const double to = to_value(first + width * (i + 1) / pieces, true);
    source.sample(from, to, pixels / pieces + 1, piece);
    for (std::size_t k = 0; k < piece.x.size(); ++k) {
      const bool left = piece.x[k] < from && i > 0;
      const bool right = piece.x[k] > to && i + 1 < pieces;
      const bool again = piece.x[k] == from && i > 0;
      if (!left && !right && !again && piece.x[k] > 0) {
        samples.x.push_back(piece.x[k]);
        samples.y.push_back(piece.y[k]);
      }
    }
    samples.bad_x.insert(samples.bad_x.end(), piece.bad_x.begin(), piece.bad_x.end());
    samples.bad_y.insert(samples.bad_y.end(), piece.bad_y.begin(), piece.bad_y.end());
  }
}

/// Moves the far end of a line to where it crosses `place`, so that pixel coordinates stay in range.
void cut_end(double& x, double& y, double inner_x, double inner_y, double place, bool log, bool steps_back) {
  const double outer = to_place(x, log);
  const double inner = to_place(inner_x, log);
  if (!steps_back && inner != outer && !std::isnan(inner_y) && !std::isnan(y))
    y = inner_y + (y - inner_y) * (place - inner) / (outer - inner);
  x = to_value(place, log);
}

void cut(series::Samples& samples, const View& view, int pixels, bool steps) {
  const std::size_t count = samples.x.size();
  if (count < 2)
    return;
  constexpr double beyond = 24; // px: larger than any dot
  const double from = to_place(view.range().first, view.log());
  const double to = to_place(view.range().second, view.log());
  const double margin = (to - from) / std::max(1, pixels) * beyond;
  const double left = from - margin;
  const double right = to + margin;
  if (to_place(samples.x[0], view.log()) < left)
    cut_end(samples.x[0], samples.y[0], samples.x[1], samples.y[1], left, view.log(), steps);
  if (to_place(samples.x[count - 1], view.log()) > right) {
    if (steps)
      samples.y[count - 1] = samples.y[count - 2];
    cut_end(samples.x[count - 1], samples.y[count - 1], samples.x[count - 2], samples.y[count - 2], right, view.log(),
            steps);
  }
}

} // namespace

QColor color_of(const CurveStyle& style, const Theme& theme) {
  const QColor color = style.role ? theme.color(*style.role) : theme.series(style.series);
  return style.faint ? mixed(color, theme.color(Role::card), 0.5) : color;
}

void Curve::set_style(const CurveStyle& new_style, const Theme& theme) {
  style = new_style;
  color = color_of(style, theme);
  dashes = style.role ? QList<qreal>() : theme.dashes(style.series);
  if (style.dashed)
    dashes = {4, 2.5};
  QPen pen(color, style.highlighted ? 2.2 : style.faint ? 1 : 1.5, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin);
  if (!dashes.isEmpty())
    pen.setDashPattern(dashes);
  graph->setPen(pen);
  constexpr float lightly = 0.14F;
  QColor fill = color;
  fill.setAlphaF(lightly);
  graph->setBrush(style.area ? QBrush(fill) : QBrush(Qt::NoBrush));
  graph->set_look(!dashes.isEmpty(), style.steps);
  graph->setLineStyle(!style.line ? QCPGraph::lsNone : style.steps ? QCPGraph::lsStepLeft : QCPGraph::lsLine);
  graph->setScatterStyle(style.points ? QCPScatterStyle(QCPScatterStyle::ssCircle, QPen(theme.color(Role::card), 1.5),
                                                        color, style.highlighted ? 10 : 8)
                                      : QCPScatterStyle());
  graph->setLayer(style.highlighted ? layers::front : style.faint ? layers::faint : layers::main);
  look_.reset();
}

void Curve::set_hidden(bool hide) {
  hidden = hide;
  graph->setVisible(!hide);
}

bool Curve::take_samples(const View& view, int pixels, bool log_y) {
  const Look look{source->generation(), view.range(), pixels, view.log(), log_y};
  const bool grown = std::exchange(revision_, source->revision()) != source->revision();
  if (look_ == look && !grown)
    return false;
  if (look_ == look && !view.log() && !samples.x.empty()) {
    if (!sample_end(view, pixels))
      return false;
  } else {
    sample(view, pixels);
  }
  look_ = look;
  give_to_graph(log_y);
  return true;
}

void Curve::sample(const View& view, int pixels) {
  if (view.log())
    sample_log(*source, view, pixels, samples);
  else
    source->sample(view.range().first, view.range().second, pixels, samples);
  cut(samples, view, pixels, style.steps);
}

bool Curve::sample_end(const View& view, int pixels) {
  const auto [from, to] = view.range();
  const double last = samples.x.back();
  if (last > to)
    return false;
  // Samples again from the pixel before the last: points may have been added to the last one.
  const double pixel = std::floor((last - from) / (to - from) * pixels) - 1;
  const double start = from + pixel * (to - from) / pixels;
  if (!(pixel > 0))
    return sample(view, pixels), true;
  const auto drop = [start](std::vector<double>& x, std::vector<double>& y) {
    const auto kept = std::lower_bound(x.begin(), x.end(), start) - x.begin();
    x.resize(static_cast<std::size_t>(kept));
    y.resize(static_cast<std::size_t>(kept));
  };
  drop(samples.x, samples.y);
  drop(samples.bad_x, samples.bad_y);
  series::Samples end;
  source->sample(start, to, pixels - static_cast<int>(pixel), end);
  const auto append = [start](const std::vector<double>& x, const std::vector<double>& y, std::vector<double>& to_x,
                              std::vector<double>& to_y) {
    const auto first = std::lower_bound(x.begin(), x.end(), start) - x.begin(); // the neighbour is there already
    to_x.insert(to_x.end(), x.begin() + first, x.end());
    to_y.insert(to_y.end(), y.begin() + first, y.end());
  };
  append(end.x, end.y, samples.x, samples.y);
  append(end.bad_x, end.bad_y, samples.bad_x, samples.bad_y);
  cut(samples, view, pixels, style.steps);
  return true;
}

void Curve::give_to_graph(bool log_y) {
  QVector<QCPGraphData> data;
  data.reserve(static_cast<qsizetype>(samples.x.size()));
  for (std::size_t i = 0; i < samples.x.size(); ++i)
    data.push_back({samples.x[i], log_y && !(samples.y[i] > 0) ? not_a_number : samples.y[i]});
  graph->data()->set(data, true);
}

} // namespace batchscope::ui
