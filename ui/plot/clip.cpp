#include "ui/plot/detail/clip.h"

#include <QLineF>

#include <algorithm>
#include <array>
#include <optional>

namespace batchscope::ui {

namespace {

/// The part of a line segment inside the area (Liang and Barsky).
std::optional<QLineF> clipped_piece(const QLineF& piece, const QRectF& area) {
  double from = 0, to = 1;
  const std::array<std::pair<double, double>, 4> borders{{{-piece.dx(), piece.x1() - area.left()},
                                                          {piece.dx(), area.right() - piece.x1()},
                                                          {-piece.dy(), piece.y1() - area.top()},
                                                          {piece.dy(), area.bottom() - piece.y1()}}};
  for (const auto& [outwards, room] : borders) {
    if (outwards == 0) {
      if (room < 0)
        return std::nullopt;
    } else if (outwards < 0) {
      from = std::max(from, room / outwards);
    } else {
      to = std::min(to, room / outwards);
    }
  }
  if (from > to)
    return std::nullopt;
  return QLineF(from == 0 ? piece.p1() : piece.pointAt(from), to == 1 ? piece.p2() : piece.pointAt(to));
}

} // namespace

std::vector<QPolygonF> clipped(const QPolygonF& line, const QRectF& area) {
  std::vector<QPolygonF> parts;
  for (qsizetype i = 0; i + 1 < line.size(); ++i) {
    const auto piece = clipped_piece(QLineF(line[i], line[i + 1]), area);
    if (!piece)
      continue;
    if (parts.empty() || parts.back().back() != piece->p1())
      parts.push_back({piece->p1()});
    parts.back().push_back(piece->p2());
  }
  return parts;
}

} // namespace batchscope::ui
