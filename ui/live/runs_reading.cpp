#include "ui/live/runs_reading.h"

#include <QGridLayout>
#include <QLabel>

#include <cmath>

#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr double figure_font = 0.88; ///< relative to the font, for four figures beside a name
constexpr int sample_column = 0, name_column = 1, first_value = 2;

const QString none = QStringLiteral("–");

/// The last value, or the highest.
std::optional<double> value_of_run(const CurveSource& source, bool highest) {
  const auto extent = source.extent();
  if (!extent)
    return std::nullopt;
  if (!highest)
    return source.value_at(extent->second);
  const auto all = source.summary(extent->first, extent->second);
  return all ? std::optional(all->max) : std::nullopt;
}

} // namespace

RunsReading::RunsReading(const Theme& theme, QWidget* parent)
    : QWidget(parent), theme_(theme), grid_(new QGridLayout(this)), font_(figures_font(font())) {
  font_.setPointSizeF(QFontInfo(font_).pointSizeF() * figure_font);
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(Theme::lines(0.4));
  grid_->setVerticalSpacing(Theme::lines(0.25));
  grid_->setColumnStretch(name_column, 1);
  const QString heads[column_count] = {tr("peak MB"), tr("loss"), tr("val. loss"), tr("batch")};
  for (int column = 0; column < column_count; ++column) {
    auto* head = dimmed_label(heads[column], this);
    head->setFont(font_);
    head->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    grid_->addWidget(head, 0, first_value + column);
  }
  hide();
}

RunsReading::Column RunsReading::column_of(const LiveCurve& curve) {
  switch (curve.panel) {
  case memory_panel:
    return peak;
  case loss_panel:
    return curve.style.points ? validation : loss;
  case batch_panel:
    return batch;
  default:
    return column_count;
  }
}

RunsReading::Row& RunsReading::row(int number) {
  while (rows_.size() <= number) {
    const int at = 2 * static_cast<int>(rows_.size()) + 1; // below the header; the values are below the name
    Row made;
    made.sample = new QLabel(this);
    made.name = new ElidedLabel(Qt::ElideMiddle, this);
    made.name->setProperty("kind", QStringLiteral("dimmed"));
    made.name->setFont(font_);
    grid_->addWidget(made.sample, at, sample_column);
    grid_->addWidget(made.name, at, name_column, 1, -1);
    for (int column = 0; column < column_count; ++column) {
      made.values[column] = new QLabel(this);
      made.values[column]->setFont(font_);
      made.values[column]->setTextFormat(Qt::PlainText);
      made.values[column]->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
      grid_->addWidget(made.values[column], at + 1, first_value + column);
    }
    rows_ += made;
  }
  return rows_[number];
}

void RunsReading::show_sample(Row& row, int look) {
  if (row.look == look && row.dark == theme_.dark())
    return;
  row.look = look;
  row.dark = theme_.dark();
  row.sample->setPixmap(line_sample(theme_, look, {Theme::lines(1.3), Theme::lines(0.3)}, devicePixelRatioF()));
}

void RunsReading::show_at(const std::vector<LiveCurve>& curves, std::optional<double> x) {
  QStringList names;
  const auto change = [](QLabel* label, const QString& text) {
    if (label->text() != text)
      label->setText(text);
  };
  for (const LiveCurve& curve : curves) {
    const Column column = column_of(curve);
    if (curve.run.isEmpty() || column == column_count)
      continue;
    if (!names.contains(curve.run)) {
      names += curve.run;
      Row& begun = row(static_cast<int>(names.size()) - 1);
      show_sample(begun, curve.style.series);
      change(begun.name, curve.run);
    }
    const Row& shown = rows_[names.indexOf(curve.run)];
    const CurveSource& source = curve.exact ? *curve.exact : *curve.source;
    const auto value = x ? source.value_at(*x) : value_of_run(source, column == peak);
    QLabel* cell = shown.values[column];
    const QString text = value ? panel_number(curve.panel, *value) : none;
    change(cell, text);
    if (cell->accessibleName() != text)
      cell->setAccessibleName(QStringLiteral("%1: %2").arg(curve.name, text));
  }
  for (qsizetype i = 0; i < rows_.size(); ++i) {
    const bool used = i < names.size();
    rows_[i].sample->setVisible(used);
    rows_[i].name->setVisible(used);
    for (QLabel* value : rows_[i].values)
      value->setVisible(used);
  }
  setVisible(!names.isEmpty());
}

} // namespace batchscope::ui

#include "moc_runs_reading.cpp"
