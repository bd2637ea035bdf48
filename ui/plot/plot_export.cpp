// What is shown, as pictures and as numbers.
#include <QBuffer>
#include <QClipboard>
#include <QGuiApplication>
#include <QPdfWriter>
#include <QSaveFile>
#include <QSvgGenerator>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "ui/plot/detail/linked_plots_impl.h"

namespace batchscope::ui {

namespace {

constexpr int points_in_csv = 100'000; ///< a curve

bool write(const QString& file, const QByteArray& content, QString* error) {
  QSaveFile output(file);
  if (output.open(QIODevice::WriteOnly) && output.write(content) == content.size() && output.commit())
    return true;
  if (error)
    *error = LinkedPlots::tr("%1 could not be written: %2").arg(file, output.errorString());
  return false;
}

/// Paints without what belongs to pointer and keys while it lives.
class ForFile {
public:
  explicit ForFile(Board& board) : board_(board) {
    if (board_.prepare())
      board_.touch(); // the screen has not seen it yet
    board_.scene.in_file = true;
  }
  ~ForFile() { board_.scene.in_file = false; }
  ForFile(const ForFile&) = delete;
  ForFile& operator=(const ForFile&) = delete;

private:
  Board& board_;
};

/// Paints onto a device that keeps lines as lines.
void paint_vectors(Board& board, QPaintDevice& device) {
  const ForFile for_file(board);
  QCPPainter painter;
  painter.begin(&device);
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  board.canvas().toPainter(&painter, board.canvas().width(), board.canvas().height());
}

QString quoted(const QString& text) {
  if (!text.contains(QLatin1Char(',')) && !text.contains(QLatin1Char('"')) && !text.contains(QLatin1Char('\n')))
    return text;
  return QLatin1Char('"') + QString(text).replace(QLatin1Char('"'), QStringLiteral("\"\"")) + QLatin1Char('"');
}

/// The shortest text that reads back as the same number.
QString exact(double value) {
  if (!std::isfinite(value))
    return std::isnan(value) ? QStringLiteral("nan") : value > 0 ? QStringLiteral("inf") : QStringLiteral("-inf");
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return QString::fromLatin1(text.data(), end - text.data());
}

/// A curve's points in view, taken one after the other.
struct CsvColumn {
  QString name;
  series::Samples samples;
  std::size_t next = 0;

  bool left() const { return next < samples.x.size(); }
};

CsvColumn column_of(const Curve& curve, const Panel& panel, const Range& view) {
  CsvColumn column{panel.spec.key + QLatin1Char('.') + curve.style.name, {}, 0};
  curve.source->sample(view.first, view.second, points_in_csv / 4, column.samples);
  auto& [x, y, bad_x, bad_y] = column.samples;
  // The neighbours that lines lead to are not in view.
  while (column.left() && x[column.next] < view.first)
    ++column.next;
  while (!x.empty() && x.back() > view.second) {
    x.pop_back();
    y.pop_back();
  }
  // What is no number is told apart here.
  for (std::size_t i = 0, bad = 0; i < x.size(); ++i) {
    while (bad < bad_x.size() && bad_x[bad] < x[i])
      ++bad;
    if (std::isnan(y[i]) && bad < bad_x.size() && bad_x[bad] == x[i])
      y[i] = bad_y[bad];
  }
  return column;
}

} // namespace

QImage LinkedPlots::to_image(double scale) const {
  Board& board = impl_->board;
  const ForFile for_file(board);
  QImage image = board.canvas().toPixmap(board.canvas().width(), board.canvas().height(), scale).toImage();
  image.setDevicePixelRatio(1);
  return image;
}

void LinkedPlots::copy() const {
  QGuiApplication::clipboard()->setImage(to_image(2));
}

bool LinkedPlots::save_png(const QString& file, QString* error) const {
  QByteArray content;
  QBuffer buffer(&content);
  buffer.open(QIODevice::WriteOnly);
  to_image(2).save(&buffer, "PNG");
  return write(file, content, error);
}

bool LinkedPlots::save_svg(const QString& file, QString* error) const {
  QByteArray content;
  QBuffer buffer(&content);
  buffer.open(QIODevice::WriteOnly);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(impl_->board.canvas().size());
  generator.setViewBox(impl_->board.canvas().rect());
  generator.setResolution(logicalDpiX()); // so that fonts are as large as here
  generator.setTitle(accessibleName());
  paint_vectors(impl_->board, generator);
  return write(file, content, error);
}

bool LinkedPlots::save_pdf(const QString& file, QString* error) const {
  constexpr double points_an_inch = 72;
  const double pixels_an_inch = logicalDpiX();
  QByteArray content;
  QBuffer buffer(&content);
  buffer.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&buffer);
    writer.setResolution(static_cast<int>(pixels_an_inch));
    writer.setPageSize(QPageSize(QSizeF(impl_->board.canvas().size()) * points_an_inch / pixels_an_inch,
                                 QPageSize::Point, {}, QPageSize::ExactMatch));
    writer.setPageMargins({});
    writer.setTitle(accessibleName());
    paint_vectors(impl_->board, writer);
  }
  return write(file, content, error);
}

QString LinkedPlots::visible_csv() const {
  Board& board = impl_->board;
  std::vector<CsvColumn> columns;
  QString text = quoted(board.scene.x_label.isEmpty() ? QStringLiteral("x") : board.scene.x_label);
  for (const auto& curve : board.curves()) {
    const Panel& panel = *board.panel(curve->panel);
    if (curve->style.name.isEmpty() || !panel.visible)
      continue;
    columns.push_back(column_of(*curve, panel, board.view().range()));
    text += QLatin1Char(',') + quoted(columns.back().name);
  }
  text += QLatin1Char('\n');
  for (;;) {
    double x = std::numeric_limits<double>::infinity();
    for (const CsvColumn& column : columns)
      if (column.left())
        x = std::min(x, column.samples.x[column.next]);
    if (std::isinf(x))
      return text;
    text += exact(x);
    for (CsvColumn& column : columns) {
      text += QLatin1Char(',');
      if (column.left() && column.samples.x[column.next] == x)
        text += exact(column.samples.y[column.next++]);
    }
    text += QLatin1Char('\n');
  }
}

bool LinkedPlots::save_csv(const QString& file, QString* error) const {
  return write(file, visible_csv().toUtf8(), error);
}

} // namespace batchscope::ui
