#include "ui/widgets/text_table.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include <QContextMenuEvent>
#include <QDesktopServices>
#include <QHeaderView>
#include <QMenu>
#include <QMouseEvent>
#include <QPainter>
#include <QShortcut>
#include <QTextLayout>
#include <QUrl>

#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

constexpr int shortest_share = 10; ///< of the width of a table, characters
constexpr int longest_share = 60;

/// Around the text of a cell; left and right as the style sheet has it for other tables.
QMargins padding() {
  return {Theme::lines(0.35), Theme::lines(0.35), Theme::lines(0.77), Theme::lines(0.35)};
}

/// The text of a cell in lines of at most that width, broken between words, or inside of one that is longer.
void lay_out(QTextLayout& layout, const QModelIndex& index, const QFont& font, double width) {
  const QVariant alignment = index.data(Qt::TextAlignmentRole);
  QTextOption option(alignment.isValid() ? Qt::Alignment(alignment.toInt()) & Qt::AlignHorizontal_Mask
                                         : Qt::Alignment(Qt::AlignLeft));
  option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  layout.setText(index.data().toString());
  layout.setFont(font);
  layout.setTextOption(option);
  layout.beginLayout();
  double y = 0;
  for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
    line.setLineWidth(width);
    line.setPosition({0, y});
    y += line.height();
  }
  layout.endLayout();
}

} // namespace

void WrappedDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  painter->save();
  if (option.state & QStyle::State_Selected)
    painter->fillRect(option.rect, theme_.color(Role::chosen));
  const bool leads_on = index.data(address_role).isValid();
  QFont font = option.font;
  font.setUnderline(leads_on);
  painter->setPen(theme_.color(leads_on ? Role::accent : Role::text));
  QTextLayout layout;
  const QRectF room = option.rect.marginsRemoved(padding());
  lay_out(layout, index, font, room.width());
  const double above = std::max((room.height() - layout.boundingRect().height()) / 2, 0.0);
  layout.draw(painter, room.topLeft() + QPointF(0, above));
  painter->fillRect(QRect(option.rect.bottomLeft(), option.rect.bottomRight()), theme_.color(Role::grid));
  painter->restore();
}

QSize WrappedDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  // A column that is fitted to its texts asks without a width.
  const int sides = padding().left() + padding().right();
  const bool fitted = option.rect.isValid() && option.rect.width() > sides;
  QTextLayout layout;
  lay_out(layout, index, option.font, fitted ? option.rect.width() - sides : QWIDGETSIZE_MAX);
  const QSizeF text(layout.maximumWidth(), layout.boundingRect().height());
  return text.toSize() + QSize(sides + 1, padding().top() + padding().bottom());
}

/// No text is cut, so that only tooltips of the model are shown.
bool WrappedDelegate::helpEvent(QHelpEvent* event, QAbstractItemView* view, const QStyleOptionViewItem& option,
                                const QModelIndex& index) {
  return QStyledItemDelegate::helpEvent(event, view, option, index);
}

QKeySequence TextTable::open_keys() {
  return Qt::CTRL | Qt::SHIFT | Qt::Key_L;
}

TextTable::TextTable(const Theme& theme, QWidget* parent) : QTableView(parent) {
  setItemDelegate(new WrappedDelegate(theme, this));
  prepare_table(*this);
  setWordWrap(true); // rows are measured with the width of their columns
  setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  setMouseTracking(true);
  fit_rows_.setSingleShot(true);
  connect(&fit_rows_, &QTimer::timeout, this, &QTableView::resizeRowsToContents);
  connect(horizontalHeader(), &QHeaderView::sectionResized, this, [this] { fit_rows_.start(0); });
  connect(this, &QTableView::clicked, this, [this](const QModelIndex& index) {
    if (std::exchange(clicked_twice_, false))
      return;
    if (const QUrl address = index.data(address_role).toUrl(); !address.isEmpty())
      QDesktopServices::openUrl(address);
  });
  connect(new QShortcut(open_keys(), this, nullptr, nullptr, Qt::WidgetShortcut), &QShortcut::activated, this,
          &TextTable::open_current);
}

void TextTable::setModel(QAbstractItemModel* model) {
  QTableView::setModel(model);
  connect(model, &QAbstractItemModel::modelReset, this, [this] {
    fit_columns();
    fit_rows_.start(0);
  });
}

void TextTable::share_out_width() {
  shares_out_ = true;
  horizontalHeader()->setStretchLastSection(true);
  fit_columns();
}

void TextTable::resizeEvent(QResizeEvent* event) {
  QTableView::resizeEvent(event);
  fit_columns();
}

void TextTable::changeEvent(QEvent* event) {
  QTableView::changeEvent(event);
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) {
    fit_columns();
    fit_rows_.start(0);
  }
}

void TextTable::mouseDoubleClickEvent(QMouseEvent* event) {
  clicked_twice_ = true;
  QTableView::mouseDoubleClickEvent(event);
}

void TextTable::fit_columns() {
  if (!shares_out_ || model() == nullptr)
    return;
  std::vector<int> longest;
  for (int column = 0; column < model()->columnCount(); ++column) {
    int length = shortest_share;
    for (int row = 0; row < model()->rowCount(); ++row)
      length = std::max(length, static_cast<int>(model()->index(row, column).data().toString().size()));
    longest.push_back(std::min(length, longest_share));
  }
  const int all = std::accumulate(longest.begin(), longest.end(), 0);
  for (int column = 0; column + 1 < model()->columnCount(); ++column) // the last takes the rest
    setColumnWidth(column, viewport()->width() * longest[static_cast<std::size_t>(column)] / all);
}

void TextTable::mouseMoveEvent(QMouseEvent* event) {
  QTableView::mouseMoveEvent(event);
  const bool leads_on = indexAt(event->pos()).data(address_role).isValid();
  viewport()->setCursor(leads_on ? Qt::PointingHandCursor : Qt::ArrowCursor);
}

void TextTable::contextMenuEvent(QContextMenuEvent* event) {
  if (address_in(currentIndex().row()).isEmpty())
    return;
  QMenu menu(this);
  menu.addAction(tr("Open the source"), open_keys(), this, &TextTable::open_current);
  menu.exec(event->globalPos());
}

QUrl TextTable::address_in(int row) const {
  for (int column = 0; model() != nullptr && row >= 0 && column < model()->columnCount(); ++column)
    if (const QVariant address = model()->index(row, column).data(address_role); address.isValid())
      return address.toUrl();
  return {};
}

void TextTable::open_current() const {
  if (const QUrl address = address_in(currentIndex().row()); !address.isEmpty())
    QDesktopServices::openUrl(address);
}

} // namespace batchscope::ui

#include "moc_text_table.cpp"
