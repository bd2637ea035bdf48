#include <QGridLayout>
#include <QPainter>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

QPixmap dash_of(const QColor& color, qreal scale) {
  const QSizeF size(Theme::lines(0.875), Theme::lines(0.2));
  QPixmap pixmap((size * scale).toSize());
  pixmap.setDevicePixelRatio(scale);
  pixmap.fill(Qt::transparent);
  QPainter painter(&pixmap);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawRoundedRect(QRectF({0, 0}, size), size.height() / 2, size.height() / 2);
  return pixmap;
}

} // namespace

Card::Card(const QString& title, QWidget* parent)
    : QFrame(parent), title_(new QLabel(title, this)), body_(new QVBoxLayout) {
  setProperty("kind", QStringLiteral("card"));
  title_->setProperty("kind", QStringLiteral("heading"));
  title_->setWordWrap(true);
  title_->setVisible(!title.isEmpty());
  auto* layout = new QVBoxLayout(this);
  const int side = Theme::lines(0.85), above = Theme::lines(0.7);
  layout->setContentsMargins(side, above, side, above);
  layout->setSpacing(Theme::lines(0.5));
  layout->addWidget(title_);
  layout->addLayout(body_);
  body_->setContentsMargins(0, 0, 0, 0);
  body_->setSpacing(Theme::lines(0.5));
}

void Card::set_title(const QString& title) {
  title_->setText(title);
  title_->setVisible(!title.isEmpty());
}

void Card::set_alarming(bool alarming) {
  title_->setProperty("tone", alarming ? QStringLiteral("error") : QString());
  restyle(*title_);
}

FactList::FactList(QWidget* parent) : QWidget(parent), grid_(new QGridLayout(this)) {
  grid_->setContentsMargins(0, 0, 0, 0);
  grid_->setHorizontalSpacing(Theme::lines(0.35));
  grid_->setVerticalSpacing(Theme::lines(0.3));
  grid_->setColumnStretch(1, 1);
}

void FactList::set_facts(const QList<Fact>& facts) {
  while (rows_.size() < facts.size())
    add_row();
  for (qsizetype i = 0; i < rows_.size(); ++i) {
    const bool used = i < facts.size();
    rows_[i].name->setVisible(used);
    rows_[i].value->setVisible(used);
    if (used)
      show_fact(i, facts[i]);
    else
      rows_[i].sample->hide();
  }
}

void FactList::add_row() {
  const auto row = static_cast<int>(rows_.size());
  auto* name = new ElidedLabel(Qt::ElideRight, this);
  name->setProperty("kind", QStringLiteral("dimmed"));
  rows_.append({new QLabel(this), name, new QLabel(this), false});
  const Row& added = rows_.last();
  added.value->setProperty("kind", QStringLiteral("value"));
  added.value->setTextFormat(Qt::PlainText);
  added.value->setFont(figures_font(font()));
  added.value->setTextInteractionFlags(Qt::TextSelectableByMouse);
  added.sample->hide();
  grid_->addWidget(added.sample, row, 0);
  grid_->addWidget(added.name, row, 0, 1, 2);
  grid_->addWidget(added.value, row, 2, Qt::AlignRight);
}

void FactList::show_fact(qsizetype number, const Fact& fact) {
  Row& row = rows_[number];
  // A name without a sample is aligned with the samples of others.
  if (const bool sample = !fact.color.isEmpty(); sample != row.sampled) {
    row.sampled = sample;
    grid_->addWidget(row.name, static_cast<int>(number), sample ? 1 : 0, 1, sample ? 1 : 2);
  }
  row.sample->setVisible(row.sampled);
  if (row.sampled && row.sample->property("color").toString() != fact.color) {
    row.sample->setPixmap(dash_of(QColor(fact.color), devicePixelRatioF()));
    row.sample->setProperty("color", fact.color);
  }
  row.name->setText(fact.name);
  row.name->setToolTip(fact.help);
  row.value->setText(fact.value);
  row.value->setToolTip(fact.help);
  row.value->setAccessibleName(QStringLiteral("%1: %2").arg(fact.name, fact.value));
  const QString tone = fact.alarming ? QStringLiteral("error") : QString();
  if (row.value->property("tone").toString() != tone) {
    row.value->setProperty("tone", tone);
    restyle(*row.value);
  }
}

} // namespace batchscope::ui
