#include "ui/live/reading_card.h"

#include <QGridLayout>
#include <QLabel>
#include <QLocale>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

#include "ui/live/runs_reading.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr double column_font = 0.88; ///< relative to the font, for five columns side by side
constexpr int between_columns = 5;   ///< name, difference, minimum, mean, maximum

QString value_text(const LiveCurve& curve, double value, double x) {
  if (curve.parts) {
    const double parts = curve.parts->value_at(x).value_or(1); // a program may not say it
    return format_parts(parts >= 1 ? std::llround(parts) : 1, std::llround(value));
  }
  if (curve.panel == no_panel)
    return format_number(value, 4);
  const QString text = panel_value(curve.panel, value);
  return curve.unit.isEmpty() ? text : text + u' ' + curve.unit;
}

/// As panel_number(), but short: four values stand side by side.
QString short_number(int panel, double value) {
  if (std::abs(value) >= 1000 && std::isfinite(value))
    return format_count(std::llround(value));
  return panel == loss_panel ? format_number(value, std::abs(value) < 0.1 ? 2 : 3) : panel_number(panel, value);
}

void put_into(QWidget& widget, Card* card) {
  auto* layout = new QVBoxLayout(&widget);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(card);
}

} // namespace

ReadingCard::ReadingCard(const Theme& theme, QWidget* parent)
    : QWidget(parent), theme_(theme), card_(new Card({}, this)), runs_(new RunsReading(theme, card_)),
      facts_(new FactList(card_)) {
  runs_->setObjectName("reading-runs");
  facts_->setObjectName("reading-facts");
  card_->body()->addWidget(runs_);
  card_->body()->addWidget(facts_);
  put_into(*this, card_);
}

void ReadingCard::show_at(const QString& title, const std::vector<LiveCurve>& curves, std::optional<double> x,
                          std::optional<double> limit_bytes) {
  runs_->show_at(curves, x);
  QList<FactList::Fact> facts;
  for (const LiveCurve& curve : curves) {
    if (!curve.run.isEmpty())
      continue;
    const auto extent = curve.source->extent();
    const double place = x.value_or(extent ? extent->second : 0);
    const auto value = curve.source->value_at(place);
    if (!value)
      continue;
    FactList::Fact fact{.name = curve.name, .value = value_text(curve, *value, place), .help = curve.style.help};
    if (curve.panel != no_panel)
      fact.color = curve_color(theme_, curve.style).name();
    if (curve.panel == loss_panel && !std::isfinite(*value))
      fact.alarming = true;
    facts += fact;
  }
  if (limit_bytes)
    facts += {.name = tr("memory budget"), .value = format_bytes(*limit_bytes)};
  set(title, facts);
  const bool beside =
      std::any_of(curves.begin(), curves.end(), [](const LiveCurve& curve) { return !curve.run.isEmpty(); });
  card_->setVisible(beside || !facts.isEmpty());
}

void ReadingCard::show_facts(const QString& title, const QList<FactList::Fact>& facts) {
  runs_->show_at({}, std::nullopt);
  set(title, facts);
  card_->setVisible(!facts.isEmpty());
}

void ReadingCard::set(const QString& title, const QList<FactList::Fact>& facts) {
  QString all = title;
  for (const FactList::Fact& fact : facts)
    all += '\n' + fact.name + '\t' + fact.value + '\t' + fact.color;
  if (all == shown_)
    return;
  shown_ = all;
  card_->set_title(title);
  facts_->set_facts(facts);
  facts_->setVisible(!facts.isEmpty());
}

BetweenCard::BetweenCard(const Theme& theme, QWidget* parent)
    : QWidget(parent), theme_(theme), card_(new Card({}, this)), grid_(new QGridLayout) {
  card_->setObjectName("between-card");
  grid_font_ = figures_font(font());
  grid_font_.setPointSizeF(QFontInfo(grid_font_).pointSizeF() * column_font);
  grid_->setHorizontalSpacing(Theme::lines(0.5));
  grid_->setVerticalSpacing(Theme::lines(0.2));
  grid_->setColumnStretch(0, 1);
  card_->body()->addLayout(grid_);
  put_into(*this, card_);
  const QString heads[between_columns] = {{}, tr("diff."), tr("min"), tr("mean"), tr("max")};
  for (int column = 0; column < between_columns; ++column)
    set_cell(0, column, heads[column]);
}

QLabel* BetweenCard::cell(int row, int column) {
  while (cells_.size() <= row * between_columns + column) {
    const int made = static_cast<int>(cells_.size());
    const int at = made % between_columns;
    const bool head = made < between_columns || at == 0;
    QLabel* label = at == 0 ? new ElidedLabel(Qt::ElideMiddle, card_) : new QLabel(card_);
    if (head)
      label->setProperty("kind", QStringLiteral("dimmed"));
    label->setFont(grid_font_);
    label->setAlignment((at == 0 ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    grid_->addWidget(label, made / between_columns, at);
    cells_ += label;
  }
  return cells_[row * between_columns + column];
}

void BetweenCard::set_cell(int row, int column, const QString& text) {
  QLabel* label = cell(row, column);
  if (label->text() != text)
    label->setText(text);
  label->setVisible(true);
}

void BetweenCard::show_between(const QString& title, const std::vector<LiveCurve>& curves, double from, double to) {
  card_->set_title(title);
  int row = 1;
  for (const LiveCurve& curve : curves) {
    if (curve.panel == no_panel)
      continue;
    const auto summary = curve.source->summary(from, to);
    if (!summary || summary->count == 0)
      continue;
    const auto number = [&](double value) { return short_number(curve.panel, value); };
    const double difference = summary->last - summary->first;
    set_cell(row, 0, curve.name);
    set_cell(row, 1, (difference > 0 ? "+" : "") + number(difference));
    set_cell(row, 2, number(summary->min));
    set_cell(row, 3, number(summary->mean));
    set_cell(row, 4, number(summary->max));
    ++row;
  }
  for (qsizetype left = row * between_columns; left < cells_.size(); ++left)
    cells_[left]->setVisible(false);
}

} // namespace batchscope::ui

#include "moc_reading_card.cpp"
