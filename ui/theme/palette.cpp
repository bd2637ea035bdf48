#include "ui/theme/palette.h"

#include <array>

namespace batchscope::ui {

namespace {

struct Shades {
  QRgb light, dark;
};

constexpr Shades shades_of(Role role) {
  switch (role) {
  case Role::window:
    return {0xfff6f7f9, 0xff1b1f24};
  case Role::card:
    return {0xffffffff, 0xff23282f};
  case Role::border:
    return {0xffdfe3e8, 0xff363d46};
  case Role::grid:
    return {0xffeceff3, 0xff2c323a};
  case Role::text:
    return {0xff1f2630, 0xffe4e8ed};
  case Role::dimmed:
    return {0xff606b78, 0xff98a3b0};
  case Role::accent:
    return {0xff0a6ed1, 0xff5aa9f5};
  case Role::on_accent:
    return {0xffffffff, 0xff0d1720};
  case Role::chosen:
    return {0xffecf4fd, 0xff1f3850};
  case Role::error:
    return {0xffc8323c, 0xffff7078};
  case Role::on_error:
    return {0xfffdecec, 0xff43262a};
  case Role::good:
    return {0xff157a4e, 0xff4cc38a};
  case Role::warning:
    return {0xff9a5c00, 0xffe5a53b};
  case Role::future:
    return {0x80e6f1fc, 0x731f3850};
  }
  return {};
}

constexpr std::array<Shades, 6> series{{{0xff0072b2, 0xff5ab4e8},
                                        {0xffe69f00, 0xfff0b840},
                                        {0xff009e73, 0xff3fc79a},
                                        {0xffcc79a7, 0xffe3a2c6},
                                        {0xff56b4e9, 0xff8ed0f5},
                                        {0xffd55e00, 0xfff58a4b}}};

} // namespace

QColor color_of(Role role, bool dark) {
  const Shades shades = shades_of(role);
  return QColor::fromRgba(dark ? shades.dark : shades.light);
}

QColor series_color(int index, bool dark) {
  const Shades shades = series[static_cast<std::size_t>(index) % series.size()];
  return QColor::fromRgba(dark ? shades.dark : shades.light);
}

QPalette make_palette(bool dark) {
  const auto color = [dark](Role role) { return color_of(role, dark); };
  QPalette palette(color(Role::text), color(Role::card), color(Role::border), color(Role::dimmed), color(Role::dimmed),
                   color(Role::text), color(Role::text), color(Role::card), color(Role::window));
  palette.setColor(QPalette::AlternateBase, color(Role::window));
  palette.setColor(QPalette::Highlight, color(Role::accent));
  palette.setColor(QPalette::HighlightedText, color(Role::on_accent));
  palette.setColor(QPalette::Link, color(Role::accent));
  palette.setColor(QPalette::LinkVisited, color(Role::accent));
  palette.setColor(QPalette::ToolTipBase, color(Role::card));
  palette.setColor(QPalette::ToolTipText, color(Role::text));
  palette.setColor(QPalette::PlaceholderText, color(Role::dimmed));
  palette.setColor(QPalette::Midlight, color(Role::grid));
  palette.setColor(QPalette::Shadow, dark ? QColor(Qt::black) : color(Role::dimmed));
  QColor faint = color(Role::text);
  faint.setAlphaF(0.4f);
  for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText})
    palette.setColor(QPalette::Disabled, role, faint);
  palette.setColor(QPalette::Disabled, QPalette::Highlight, color(Role::border));
  return palette;
}

} // namespace batchscope::ui
