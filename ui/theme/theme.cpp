#include "ui/theme/theme.h"

#include <cmath>

#include <QApplication>
#include <QEvent>
#include <QFontMetricsF>
#include <QStyleFactory>

#include "ui/theme/icon_engine.h"
#include "ui/theme/palette.h"
#include "ui/theme/shipped_font.h"
#include "ui/theme/style_sheet.h"
#include "ui/theme/system_scheme.h"

namespace batchscope::ui {

namespace {

bool is_dark(const QPalette& palette) {
  return palette.color(QPalette::Window).lightness() < palette.color(QPalette::WindowText).lightness();
}

} // namespace

Theme::Theme(QObject* parent) : QObject(parent), scheme_(new SystemScheme(this)) {
  connect(scheme_, &SystemScheme::changed, this, &Theme::follow_system);
}

void Theme::apply_to(QApplication& application) {
  application_ = &application;
  palette_dark_ = is_dark(QApplication::palette());
  dark_ = wanted_dark();
  QApplication::setFont(shipped_font(QApplication::font()));
  QApplication::setStyle(QStyleFactory::create(QStringLiteral("Fusion")));
  paint_application();
  application.installEventFilter(this);
}

void Theme::set_mode(Mode mode) {
  mode_ = mode;
  follow_system();
}

bool Theme::wanted_dark() const {
  if (mode_ != Mode::system)
    return mode_ == Mode::dark;
  return scheme_->dark().value_or(palette_dark_);
}

void Theme::follow_system() {
  if (wanted_dark() == dark_)
    return;
  dark_ = wanted_dark();
  paint_application();
  Q_EMIT changed();
}

void Theme::paint_application() {
  if (!application_)
    return;
  painting_ = true;
  QApplication::setPalette(make_palette(dark_));
  application_->setStyleSheet(style_sheet(*this));
  painting_ = false;
}

bool Theme::eventFilter(QObject* watched, QEvent* event) {
  if (painting_)
    return false;
  if (event->type() == QEvent::ThemeChange && event->spontaneous()) {
    // The desktop changed its palette, but ours covers it: removing ours reveals it and triggers another event.
    QApplication::setPalette(QPalette());
  } else if (watched == application_ && event->type() == QEvent::ApplicationPaletteChange) {
    palette_dark_ = is_dark(QApplication::palette());
    const bool before = dark_;
    dark_ = wanted_dark();
    paint_application();
    if (dark_ != before)
      Q_EMIT changed();
  } else if (watched == application_ && event->type() == QEvent::ApplicationFontChange) {
    paint_application();
    Q_EMIT changed();
  }
  return false;
}

QColor Theme::color(Role role) const {
  return color_of(role, dark_);
}

QColor Theme::series(int index) const {
  return series_color(index, dark_);
}

QList<qreal> Theme::dashes(int index) const {
  constexpr int colors = 6, patterns = 4;
  static_assert(colors * patterns == looks);
  switch (index / colors % patterns) {
  case 1:
    return {6, 3};
  case 2:
    return {2, 2};
  case 3:
    return {8, 3, 2, 3};
  default:
    return {};
  }
}

QIcon Theme::icon(const QString& name) const {
  return QIcon(new IconEngine(name, *this));
}

int Theme::lines(double count) {
  return static_cast<int>(std::lround(count * QFontMetricsF(QApplication::font()).height()));
}

} // namespace batchscope::ui

#include "moc_theme.cpp"
