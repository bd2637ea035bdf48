#include "ui/sweep/vary_card.h"

#include <QHBoxLayout>
#include <QMenu>
#include <QSpinBox>
#include <QVBoxLayout>

#include <algorithm>
#include <map>

#include "core/run/spec_fields.h"
#include "ui/sweep/value_row.h"
#include "ui/texts/spec_texts.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

constexpr int most_repeats = 1000;

} // namespace

VaryCard::VaryCard(QWidget* parent)
    : Card(tr("What varies"), parent), fields_(new QVBoxLayout), seeds_(new QWidget(this)),
      repeats_(new QSpinBox(seeds_)), seed_range_(dimmed_label({}, seeds_)),
      add_(plain_button(tr("+ Add a field"), this)), menu_(new QMenu(this)) {
  fields_->setSpacing(Theme::lines(0.15));
  body()->addLayout(fields_);
  auto* row = new QHBoxLayout(seeds_);
  row->setContentsMargins(0, 0, 0, 0);
  auto* label = dimmed_label(tr("Repeats"), seeds_);
  label->setBuddy(repeats_);
  label->setToolTip(tr("Runs per setting, with different seeds; more repeats make the answer more certain"));
  repeats_->setRange(1, most_repeats);
  repeats_->setAccessibleName(tr("Repeats of each setting"));
  repeats_->setObjectName(QStringLiteral("repeats"));
  row->addWidget(label);
  row->addWidget(repeats_);
  row->addWidget(seed_range_, 1);
  body()->addWidget(seeds_);
  auto* at_left = new QHBoxLayout;
  add_->setObjectName(QStringLiteral("add_field"));
  add_->setMenu(menu_);
  at_left->addWidget(add_);
  at_left->addStretch();
  body()->addLayout(at_left);
  connect(menu_, &QMenu::aboutToShow, this, &VaryCard::fill_menu);
  connect(repeats_, &QSpinBox::valueChanged, this, [this] {
    show_seeds();
    Q_EMIT changed();
  });
}

void VaryCard::show_plan(const sweep::SweepSpec& spec) {
  show_spec(spec, false);
}

void VaryCard::show_stored(const sweep::SweepSpec& spec) {
  show_spec(spec, true);
}

void VaryCard::show_spec(const sweep::SweepSpec& spec, bool stored) {
  spec_ = spec;
  stored_ = stored;
  qDeleteAll(rows_);
  rows_.clear();
  for (const sweep::Variation& variation : spec.vary)
    add_row(variation);
  {
    const QSignalBlocker quiet(repeats_);
    repeats_->setMinimum(stored ? static_cast<int>(std::min<std::int64_t>(spec.repeats, most_repeats)) : 1);
    repeats_->setValue(static_cast<int>(std::min<std::int64_t>(spec.repeats, most_repeats)));
  }
  add_->setVisible(!stored);
  show_seeds();
}

ValueRow* VaryCard::add_row(const sweep::Variation& variation) {
  auto* row = new ValueRow(variation.field, this);
  std::set<std::string> fixed;
  if (stored_)
    fixed.insert(variation.values.begin(), variation.values.end());
  row->set_values(variation, fixed);
  row->setEnabled(!stored_ || !variation.interval);
  fields_->addWidget(row);
  if (rows_.isEmpty())
    setTabOrder(row, seeds_);
  rows_ << row;
  connect(row, &ValueRow::changed, this, &VaryCard::changed);
  connect(row, &ValueRow::removed, this, [this, row] {
    rows_.removeOne(row);
    row->hide();
    row->deleteLater();
    add_->setFocus();
    show_seeds();
    Q_EMIT changed();
  });
  return row;
}

void VaryCard::show_seeds() {
  const bool varies =
      std::any_of(rows_.begin(), rows_.end(), [](const ValueRow* row) { return row->field() == "seed"; });
  seeds_->setVisible(!varies);
  const auto first = static_cast<qulonglong>(spec_.base.seed);
  const int count = repeats_->value();
  seed_range_->setText(count == 1 ? tr("seed %1").arg(first)
                                  : tr("seeds %1 to %2").arg(first).arg(first + static_cast<qulonglong>(count) - 1));
}

void VaryCard::fill_menu() {
  menu_->clear();
  std::map<std::string, QMenu*> parts;
  for (const std::string& group : run::spec_groups())
    parts[group] = menu_->addMenu(field_translation(group));
  for (const std::string& key : run::keys_of(spec_.base)) {
    const run::SpecField& field = run::spec_field(key);
    const bool taken =
        std::any_of(rows_.begin(), rows_.end(), [&](const ValueRow* row) { return row->field() == key; });
    if (key == "name" || taken)
      continue;
    QAction* action = parts[field.group]->addAction(field_label(key));
    action->setToolTip(field_translation(field.help));
    action->setData(QString::fromStdString(key));
    connect(action, &QAction::triggered, this, [this, key] { add_field(key); });
  }
  for (const auto& [group, part] : parts)
    part->menuAction()->setVisible(!part->isEmpty());
}

/// With the value that all runs have had so far, which stays comparable.
void VaryCard::add_field(const std::string& field) {
  sweep::Variation variation{.field = field, .values = {}, .interval = {}};
  const std::string now = run::field_shown(spec_.base, field);
  try {
    variation = sweep::parse_values(field, now);
  } catch (const std::exception&) {
    // Its default is no value: `the first batch`.
  }
  ValueRow* row = add_row(variation);
  row->show();
  row->edit();
  show_seeds();
  Q_EMIT changed();
}

void VaryCard::show_base(const run::RunSpec& base) {
  spec_.base = base;
  show_seeds();
}

void VaryCard::apply(sweep::SweepSpec& spec) const {
  spec.vary.clear();
  bool seeds = false;
  for (const ValueRow* row : rows_) {
    sweep::Variation variation = row->variation();
    seeds = seeds || variation.field == "seed";
    if (!variation.values.empty() || variation.interval)
      spec.vary.push_back(std::move(variation));
  }
  spec.repeats = seeds ? 1 : repeats_->value();
}

bool VaryCard::has_error() const {
  return std::any_of(rows_.begin(), rows_.end(), [](const ValueRow* row) { return row->has_error(); });
}

bool VaryCard::show_error(const QString& error) {
  for (ValueRow* row : rows_)
    if (error.startsWith(QString::fromStdString(run::spec_field(row->field()).option) + u':')) {
      row->show_error(error);
      return true;
    }
  return false;
}

} // namespace batchscope::ui

#include "moc_vary_card.cpp"
