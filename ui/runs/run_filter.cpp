#include "ui/runs/run_filter.h"

#include <cmath>

#include "core/base/error.h"
#include "ui/runs/run_columns.h"
#include "ui/runs/run_table_model.h"

namespace batchscope::ui {

namespace {

bool has_comparison(const QString& text) {
  return text.contains(u'=') || text.contains(u'<') || text.contains(u'>');
}

/// The error for the filter box, without the command line's option.
QString shown_error(const Error& error) {
  QString text = QString::fromUtf8(error.what());
  const QString option = QStringLiteral("--where: ");
  if (text.startsWith(option))
    text.remove(0, option.size());
  text[0] = text[0].toUpper();
  return text;
}

/// Values that are not numbers come after all numbers, and missing values last.
int rank(const std::optional<double>& value) {
  if (!value)
    return 2;
  return std::isnan(*value) ? 1 : 0;
}

} // namespace

RunFilter::RunFilter(RunTableModel& runs, QObject* parent) : QSortFilterProxyModel(parent), runs_(runs) {
  setDynamicSortFilter(true);
  setSourceModel(&runs);
}

void RunFilter::set_text(const QString& text) {
  text_ = text.trimmed();
  error_.clear();
  if (!has_comparison(text_)) {
    condition_ = nullptr;
    words_ = text_.toLower().split(u' ', Qt::SkipEmptyParts);
    runs_.announce_reset();
    return;
  }
  try {
    condition_ = store::parse_list_filter(text_.toStdString());
    words_.clear();
    runs_.announce_reset();
  } catch (const Error& error) {
    error_ = shown_error(error);
  }
}

bool RunFilter::filterAcceptsRow(int row, const QModelIndex& /*parent*/) const {
  if (condition_)
    return condition_(runs_.run(row));
  return std::all_of(words_.begin(), words_.end(),
                     [&](const QString& word) { return runs_.words(row).contains(word); });
}

bool RunFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const RunColumn& column = run_columns()[static_cast<std::size_t>(left.column())];
  const store::RunRow& a = runs_.run(left.row());
  const store::RunRow& b = runs_.run(right.row());
  if (column.text) {
    const std::string& one = column.text(a);
    const std::string& other = column.text(b);
    // Missing values are last in either order.
    if (one.empty() != other.empty())
      return one.empty() == (sortOrder() == Qt::DescendingOrder);
    return left.column() == name_column ? runs_.name_key(left.row()) < runs_.name_key(right.row()) : one < other;
  }
  const auto x = column.number(a);
  const auto y = column.number(b);
  if (rank(x) != rank(y))
    return (rank(x) < rank(y)) == (sortOrder() == Qt::AscendingOrder);
  return rank(x) == 0 && *x < *y;
}

} // namespace batchscope::ui

#include "moc_run_filter.cpp"
