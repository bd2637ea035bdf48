#include "ui/theme/icon_engine.h"

#include <utility>

#include <QPainter>
#include <QPixmapCache>
#include <QSvgRenderer>

namespace batchscope::ui {

IconEngine::IconEngine(QString name, const Theme& theme) : name_(std::move(name)), theme_(&theme) {}

void IconEngine::paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) {
  const qreal scale = painter->device() ? painter->device()->devicePixelRatioF() : 1;
  painter->drawPixmap(rect, scaledPixmap(rect.size() * scale, mode, state, scale));
}

QPixmap IconEngine::pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) {
  return scaledPixmap(size, mode, state, 1);
}

// `size` is in device pixels; the caller sets the pixmap's ratio.
QPixmap IconEngine::scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal /*scale*/) {
  const QColor color = tint(mode, state);
  const QString key =
      QStringLiteral("batchscope/%1/%2x%3/%4").arg(name_).arg(size.width()).arg(size.height()).arg(color.rgba());
  QPixmap pixmap;
  if (QPixmapCache::find(key, &pixmap))
    return pixmap;
  pixmap = QPixmap(size);
  pixmap.fill(Qt::transparent);
  QSvgRenderer drawing(QStringLiteral(":/batchscope/icons/%1.svg").arg(name_));
  drawing.setAspectRatioMode(Qt::KeepAspectRatio);
  QPainter painter(&pixmap);
  drawing.render(&painter);
  painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
  painter.fillRect(pixmap.rect(), color);
  painter.end();
  QPixmapCache::insert(key, pixmap);
  return pixmap;
}

QSize IconEngine::actualSize(const QSize& size, QIcon::Mode /*mode*/, QIcon::State /*state*/) {
  return size;
}

QIconEngine* IconEngine::clone() const {
  return new IconEngine(*this);
}

QColor IconEngine::tint(QIcon::Mode mode, QIcon::State state) const {
  if (!theme_)
    return Qt::gray;
  QColor color = theme_->color(state == QIcon::On ? Role::accent : Role::text);
  if (mode == QIcon::Disabled)
    color.setAlphaF(0.4f);
  return color;
}

} // namespace batchscope::ui
