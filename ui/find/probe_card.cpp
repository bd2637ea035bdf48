#include "ui/find/probe_card.h"

#include <QHeaderView>
#include <QScrollBar>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace batchscope::ui {

namespace {

constexpr int max_rows_shown = 8; ///< scrolls if there are more

/// `1 probe`, `3 probes`.
QString counted(std::size_t count, const QString& one, const QString& many) {
  return QStringLiteral("%1 %2").arg(count).arg(count == 1 ? one : many);
}

QString count_text(const SearchView& view) {
  const int ooms = out_of_memory_runs(view.probes);
  QStringList parts;
  if (!view.strategy.isEmpty())
    parts << view.strategy;
  parts << counted(view.probes.size(), ProbeCard::tr("probe"), ProbeCard::tr("probes"));
  if (!view.checks.empty())
    parts << counted(view.checks.size(), ProbeCard::tr("check"), ProbeCard::tr("checks"));
  parts << (ooms == 0 ? ProbeCard::tr("no OOM") : ProbeCard::tr("%1 OOM").arg(ooms));
  if (view.seconds > 0)
    parts << ProbeCard::tr("%1 s").arg(view.seconds, 0, 'f', 1);
  return ProbeCard::tr("Search: %1").arg(parts.join(QStringLiteral(", ")));
}

} // namespace

ProbeCard::ProbeCard(const Theme& theme, QWidget* parent)
    : Card({}, parent), model_(new ProbeModel(theme, this)), table_(new QTableView(this)) {
  table_->setModel(model_);
  table_->setObjectName(QStringLiteral("probes"));
  table_->setAccessibleName(tr("Probed batch sizes"));
  prepare_table(*table_);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  QHeaderView* header = table_->horizontalHeader();
  header->setSectionsClickable(false);
  header->setSectionResizeMode(QHeaderView::Fixed);
  header->setStretchLastSection(true);
  // A vertical scroll bar leaves less space than the columns need; do not scroll horizontally.
  QScrollBar* sideways = table_->horizontalScrollBar();
  connect(sideways, &QScrollBar::rangeChanged, sideways, [sideways] { sideways->setRange(0, 0); });
  body()->addWidget(table_);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, [this] {
    const QModelIndexList rows = table_->selectionModel()->selectedRows();
    if (rows.isEmpty()) {
      Q_EMIT chosen_none();
      return;
    }
    const ProbeRow& row = model_->rows()[static_cast<std::size_t>(rows.first().row())];
    Q_EMIT chosen(row.number, row.batch);
  });
}

void ProbeCard::show_search(const SearchView& view) {
  set_title(count_text(view));
  model_->set_rows(rows_of(view));
  if (view.working())
    table_->scrollToBottom();
  fit();
}

void ProbeCard::choose(int number) {
  const int row = model_->row_of_number(number);
  if (row >= 0)
    table_->selectRow(row);
}

std::optional<std::int64_t> ProbeCard::chosen_batch() const {
  const QModelIndexList rows = table_->selectionModel()->selectedRows();
  return rows.isEmpty() ? std::nullopt
                        : std::optional(model_->rows()[static_cast<std::size_t>(rows.first().row())].batch);
}

/// Fits columns to their contents, and the table's height to its rows.
void ProbeCard::fit() {
  QHeaderView* header = table_->horizontalHeader();
  // Bold titles of the style sheet are a little wider than the header assumes.
  const int bolder = Theme::lines(0.2);
  for (int column = 0; column < ProbeModel::result; ++column)
    header->resizeSection(column, std::max(header->sectionSizeHint(column) + bolder,
                                           static_cast<QAbstractItemView*>(table_)->sizeHintForColumn(column)));
  const int rows = std::clamp(model_->rowCount(), 1, max_rows_shown);
  table_->setFixedHeight(header->sizeHint().height() + rows * table_->verticalHeader()->defaultSectionSize() +
                         2 * table_->frameWidth());
}

} // namespace batchscope::ui

#include "moc_probe_card.cpp"
