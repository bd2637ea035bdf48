#pragma once

#include <QIconEngine>
#include <QPointer>
#include <QString>

#include "ui/theme/theme.h"

namespace batchscope::ui {

/// Draws resources/icons/NAME.svg at exactly the requested size in the theme's current colour, so existing icons follow
/// a change of the theme.
class IconEngine : public QIconEngine {
public:
  IconEngine(QString name, const Theme& theme);

  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override;
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override;
  QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State state, qreal scale) override;
  QSize actualSize(const QSize& size, QIcon::Mode mode, QIcon::State state) override;
  QIconEngine* clone() const override;

private:
  QColor tint(QIcon::Mode mode, QIcon::State state) const;

  QString name_;
  QPointer<const Theme> theme_;
};

} // namespace batchscope::ui
