#include "core/exchange/detail/svg_plot.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

namespace batchscope::exchange::detail {

namespace {

constexpr double width = 640;
constexpr double height = 300;
constexpr double left = 64;
constexpr double right = 16;
constexpr double top = 34;
constexpr double bottom = 44;

/// Range of an axis with its ticks at round numbers.
struct Axis {
  double low = 0;
  double high = 1;
  double step = 1;

  static std::optional<Axis> of(const std::vector<SvgPlot::Series>& series, bool x) {
    std::optional<double> low;
    std::optional<double> high;
    for (const SvgPlot::Series& one : series)
      for (const auto& [px, py] : one.points) {
        if (!std::isfinite(px) || !std::isfinite(py))
          continue;
        const double value = x ? px : py;
        low = std::min(low.value_or(value), value);
        high = std::max(high.value_or(value), value);
      }
    if (!low)
      return std::nullopt;
    if (*low == *high) {
      *low -= std::abs(*low) / 2 + 0.5;
      *high += std::abs(*high) / 2 + 0.5;
    }
    constexpr double ticks = 5;
    const double rough = (*high - *low) / ticks;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    const double digit = rough / power;
    Axis axis;
    axis.step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
    axis.low = std::floor(*low / axis.step) * axis.step;
    axis.high = std::ceil(*high / axis.step) * axis.step;
    return axis;
  }

  double place(double value) const { return (value - low) / (high - low); }
};

struct PlotArea {
  Axis x, y;
  double px(double value) const { return left + x.place(value) * (width - left - right); }
  double py(double value) const { return height - bottom - y.place(value) * (height - top - bottom); }
};

std::string grid(const PlotArea& frame) {
  std::string svg;
  const auto count = [](const Axis& axis) { return static_cast<int>(std::lround((axis.high - axis.low) / axis.step)); };
  for (int i = 0; i <= count(frame.y); ++i) {
    const double value = frame.y.low + i * frame.y.step;
    svg += fmt::format(R"(<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/><text class="axis end" x="{}" )"
                       R"(y="{:.1f}">{:g}</text>)",
                       left, width - right, frame.py(value), frame.py(value), left - 8, frame.py(value) + 4,
                       std::abs(value) < frame.y.step / 1000 ? 0 : value);
  }
  for (int i = 0; i <= count(frame.x); ++i) {
    const double value = frame.x.low + i * frame.x.step;
    svg += fmt::format(R"(<text class="axis middle" x="{:.1f}" y="{}">{:g}</text>)", frame.px(value),
                       height - bottom + 18, std::abs(value) < frame.x.step / 1000 ? 0 : value);
  }
  return svg;
}

std::string line(const SvgPlot::Series& series, const PlotArea& frame, std::size_t colour) {
  std::string path;
  bool pen_down = false;
  for (const auto& [x, y] : series.points) {
    if (!std::isfinite(x) || !std::isfinite(y)) {
      pen_down = false;
      continue;
    }
    path += fmt::format("{}{:.1f} {:.1f}", pen_down ? 'L' : 'M', frame.px(x), frame.py(y));
    pen_down = true;
  }
  return fmt::format(R"(<path class="line c{}" d="{}"><title>{}</title></path>)", colour, path,
                     html_escaped(series.label));
}

std::string dots(const SvgPlot::Series& series, const PlotArea& frame, std::size_t colour) {
  std::string svg;
  for (const auto& [x, y] : series.points)
    if (std::isfinite(x) && std::isfinite(y))
      svg += fmt::format(R"(<circle class="dot c{}" cx="{:.1f}" cy="{:.1f}" r="4"><title>{}</title></circle>)", colour,
                         frame.px(x), frame.py(y), html_escaped(series.label));
  return svg;
}

} // namespace

std::string html_escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    case '\'':
      escaped += "&#39;";
      break;
    default:
      escaped += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? ' ' : c;
    }
  }
  return escaped;
}

std::string SvgPlot::svg() const {
  const auto x = Axis::of(series_, true);
  const auto y = Axis::of(series_, false);
  if (!x || !y)
    return {};
  const PlotArea frame{*x, *y};
  std::string svg =
      fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">)", width, height, html_escaped(title_));
  svg += fmt::format(R"(<text class="title" x="{}" y="18">{} <tspan class="axis">({})</tspan></text>)", left,
                     html_escaped(title_), html_escaped(y_label_));
  svg += grid(frame);
  svg += fmt::format(R"(<text class="axis end" x="{}" y="{}">{}</text>)", width - right, height - 8,
                     html_escaped(x_label_));
  for (const Series& series : series_)
    svg += series.line ? line(series, frame, series.colour % colours) : dots(series, frame, series.colour % colours);
  return svg + "</svg>";
}

} // namespace batchscope::exchange::detail
