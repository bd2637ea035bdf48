// Export of the plots as pictures and numbers.
#include <QBuffer>
#include <QClipboard>
#include <QFutureWatcher>
#include <QGuiApplication>
#include <QPdfWriter>
#include <QPromise>
#include <QSaveFile>
#include <QSvgGenerator>
#include <QThreadPool>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <limits>

#include "core/base/open_database.h"
#include "ui/plot/detail/linked_plots_impl.h"

namespace batchscope::ui {

namespace {

constexpr int points_in_csv = 100'000; ///< per curve

/// Produces the content of a file without using the plots: on another thread.
using Content = std::function<QByteArray()>;

/// Returns an error; empty: none.
QString write(const QString& file, const QByteArray& content) {
  if (is_open_database(file.toStdString()))
    return LinkedPlots::tr("%1 is the open run database; choose another file").arg(file);
  QSaveFile output(file);
  if (output.open(QIODevice::WriteOnly) && output.write(content) == content.size() && output.commit())
    return {};
  return LinkedPlots::tr("%1 could not be written: %2").arg(file, output.errorString());
}

/// While it lives, paints without pointer and focus items.
class ForFile {
public:
  explicit ForFile(Board& board) : board_(board) {
    if (board_.prepare())
      board_.touch(); // not drawn on the screen yet
    board_.scene.in_file = true;
  }
  ~ForFile() { board_.scene.in_file = false; }
  ForFile(const ForFile&) = delete;
  ForFile& operator=(const ForFile&) = delete;

private:
  Board& board_;
};

/// Size of the plots with their caption.
QSize picture_size(const Board& board) {
  const Picture picture = board.picture();
  return picture.whole.size().toSize() + QSize(0, static_cast<int>(caption_height(picture)));
}

/// Paints onto a vector device.
void paint_vectors(Board& board, QPaintDevice& device) {
  const ForFile for_file(board);
  QCPPainter painter;
  painter.begin(&device);
  paint_caption(board.picture(), painter, board.canvas().width());
  painter.translate(0, caption_height(board.picture()));
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  board.canvas().toPainter(&painter, board.canvas().width(), board.canvas().height());
}

QByteArray quoted(const QString& text) {
  QByteArray bytes = text.toUtf8();
  if (!bytes.contains(',') && !bytes.contains('"') && !bytes.contains('\n'))
    return bytes;
  return '"' + bytes.replace("\"", "\"\"") + '"';
}

/// Writes the shortest text that reads back as the same number.
void append_exact(QByteArray& bytes, double value) {
  if (!std::isfinite(value)) {
    bytes += std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
    return;
  }
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  bytes.append(text.data(), end - text.data());
}

/// The points of a curve in view, read one after the other.
struct CsvColumn {
  QString name;
  series::Samples samples;
  std::size_t next = 0;

  bool left() const { return next < samples.x.size(); }
};

/// The sampled points of the curves.
struct CsvTable {
  QString x_label;
  Range view;
  std::vector<CsvColumn> columns;
};

CsvTable take_table(const Board& board) {
  CsvTable table{board.scene.x_label, board.view().range(), {}};
  if (board.view().values() == XValues::clock)
    table.x_label = QStringLiteral("seconds since 1970");
  else if (table.x_label.isEmpty())
    table.x_label = QStringLiteral("x");
  for (const auto& curve : board.curves()) {
    const Panel& panel = *board.panel(curve->panel);
    if (curve->style.name.isEmpty() || curve->hidden || !panel.visible)
      continue;
    const QString unit = panel.spec.unit.isEmpty() ? QString() : QStringLiteral(" (%1)").arg(panel.spec.unit);
    table.columns.push_back({panel.spec.key + QLatin1Char('.') + curve->style.name + unit, {}, 0});
    curve->source->sample(table.view.first, table.view.second, points_in_csv / 4, table.columns.back().samples);
  }
  return table;
}

/// Removes the neighbours out of view, and inserts the original values that are not finite.
void cut_to_view(CsvColumn& column, const Range& view) {
  auto& [x, y, bad_x, bad_y] = column.samples;
  while (column.left() && x[column.next] < view.first)
    ++column.next;
  while (!x.empty() && x.back() > view.second) {
    x.pop_back();
    y.pop_back();
  }
  for (std::size_t i = 0, bad = 0; i < x.size(); ++i) {
    while (bad < bad_x.size() && bad_x[bad] < x[i])
      ++bad;
    if (std::isnan(y[i]) && bad < bad_x.size() && bad_x[bad] == x[i])
      y[i] = bad_y[bad];
  }
}

QByteArray csv_text(CsvTable table) {
  QByteArray text = quoted(table.x_label);
  for (CsvColumn& column : table.columns) {
    cut_to_view(column, table.view);
    text += ',' + quoted(column.name);
  }
  text += '\n';
  for (;;) {
    double x = std::numeric_limits<double>::infinity();
    for (const CsvColumn& column : table.columns)
      if (column.left())
        x = std::min(x, column.samples.x[column.next]);
    if (std::isinf(x))
      return text;
    append_exact(text, x);
    for (CsvColumn& column : table.columns) {
      text += ',';
      if (column.left() && column.samples.x[column.next] == x)
        append_exact(text, column.samples.y[column.next++]);
    }
    text += '\n';
  }
}

QByteArray png(const QImage& image) {
  QByteArray content;
  QBuffer buffer(&content);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return content;
}

/// `dots_an_inch` as on the screen, so that fonts have the same size.
QByteArray svg(Board& board, const QString& title, int dots_an_inch) {
  QByteArray content;
  QBuffer buffer(&content);
  buffer.open(QIODevice::WriteOnly);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(picture_size(board));
  generator.setViewBox(QRect({0, 0}, picture_size(board)));
  generator.setResolution(dots_an_inch);
  generator.setTitle(title);
  paint_vectors(board, generator);
  return content;
}

QByteArray pdf(Board& board, const QString& title, int dots_an_inch) {
  constexpr double points_an_inch = 72;
  QByteArray content;
  QBuffer buffer(&content);
  buffer.open(QIODevice::WriteOnly);
  {
    QPdfWriter writer(&buffer); // complete once it is destroyed
    writer.setResolution(dots_an_inch);
    writer.setPageSize(QPageSize(QSizeF(picture_size(board)) * points_an_inch / dots_an_inch, QPageSize::Point, {},
                                 QPageSize::ExactMatch));
    writer.setPageMargins({});
    writer.setTitle(title);
    paint_vectors(board, writer);
  }
  return content;
}

/// Calls `done` with an error (empty: none) if `owner` still lives; the file is written in any case.
void write_elsewhere(QObject* owner, const QString& file, Content make, std::function<void(const QString&)> done) {
  const auto promise = std::make_shared<QPromise<QString>>();
  auto* watcher = new QFutureWatcher<QString>(owner);
  QObject::connect(watcher, &QFutureWatcherBase::finished, owner, [watcher, done = std::move(done)] {
    done(watcher->result());
    watcher->deleteLater();
  });
  promise->start();
  watcher->setFuture(promise->future());
  QThreadPool::globalInstance()->start([promise, file, make = std::move(make)] {
    promise->addResult(write(file, make()));
    promise->finish();
  });
}

} // namespace

QImage LinkedPlots::to_image(double scale) const {
  Board& board = impl_->board;
  const ForFile for_file(board);
  QImage image = board.canvas().toPixmap(board.canvas().width(), board.canvas().height(), scale).toImage();
  image.setDevicePixelRatio(1);
  const double above = caption_height(board.picture());
  if (above <= 0)
    return image;
  QImage whole(image.width(), image.height() + static_cast<int>(std::lround(above * scale)), image.format());
  QPainter painter(&whole);
  painter.drawImage(0, whole.height() - image.height(), image);
  painter.scale(scale, scale);
  paint_caption(board.picture(), painter, image.width() / scale);
  return whole;
}

void LinkedPlots::copy() const {
  QGuiApplication::clipboard()->setImage(to_image(2));
}

QString LinkedPlots::title() const {
  return impl_->board.scene.caption.isEmpty() ? accessibleName() : impl_->board.scene.caption;
}

void LinkedPlots::save(FileKind kind, const QString& file) {
  Content make;
  switch (kind) {
  case FileKind::png:
    make = [image = to_image(2)] { return png(image); };
    break;
  case FileKind::svg:
    make = [content = svg(impl_->board, title(), logicalDpiX())] { return content; };
    break;
  case FileKind::pdf:
    make = [content = pdf(impl_->board, title(), logicalDpiX())] { return content; };
    break;
  case FileKind::csv:
    make = [table = take_table(impl_->board)]() mutable { return csv_text(std::move(table)); };
    break;
  }
  write_elsewhere(this, file, std::move(make), [this, file](const QString& error) {
    if (error.isEmpty())
      Q_EMIT saved(file);
    else
      Q_EMIT problem(error);
  });
}

} // namespace batchscope::ui
