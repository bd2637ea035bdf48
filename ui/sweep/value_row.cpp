#include "ui/sweep/value_row.h"

#include <QCompleter>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/run/spec_fields.h"
#include "ui/sweep/sweep_content.h"
#include "ui/texts/spec_texts.h"
#include "ui/theme/theme.h"
#include "ui/widgets/flow_layout.h"
#include "ui/widgets/labelled_edit.h"
#include "ui/widgets/note_line.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

/// Numbers before shares, shares before words; both by size.
std::pair<int, double> sort_place(const std::string& value) {
  const bool share = value.ends_with('%');
  bool is_number = false;
  const double number = QString::fromStdString(share ? value.substr(0, value.size() - 1) : value).toDouble(&is_number);
  return {!is_number ? 2 : share ? 1 : 0, is_number ? number : 0};
}

QString placeholder_of(const run::SpecField& field) {
  if (field.key == "batch")
    return ValueRow::tr("16..256 x2 or 50%, 100%");
  if (!field.choices.empty() && field.kind == run::SpecField::Kind::choice)
    return QString::fromStdString(field.choices.back());
  if (field.kind == run::SpecField::Kind::flag)
    return QStringLiteral("true, false");
  return sweep::has_commas(field) ? ValueRow::tr("add, separated by ;") : ValueRow::tr("add values");
}

} // namespace

sweep::Variation joined(sweep::Variation values, const sweep::Variation& more) {
  if (more.interval)
    return more;
  values.interval.reset();
  for (const std::string& value : more.values)
    if (std::find(values.values.begin(), values.values.end(), value) == values.values.end())
      values.values.push_back(value);
  if (std::all_of(values.values.begin(), values.values.end(),
                  [](const std::string& value) { return sort_place(value).first < 2; }))
    std::stable_sort(values.values.begin(), values.values.end(), [](const std::string& one, const std::string& other) {
      return sort_place(one) < sort_place(other);
    });
  return values;
}

ValueRow::ValueRow(const std::string& field, QWidget* parent)
    : QWidget(parent), field_(field), variation_{.field = field, .values = {}, .interval = {}},
      input_(new QLineEdit(this)), note_(new NoteLine(*input_, this)) {
  const run::SpecField& about = run::spec_field(field);
  const QString name = field_label(field);
  setObjectName(QString::fromStdString(field));
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(2);
  auto* label = dimmed_label(name, this);
  label->setBuddy(input_);
  label->setToolTip(field_translation(about.help));
  column->addWidget(label);
  auto* chips = new QWidget(this);
  flow_ = new FlowLayout(Theme::lines(0.25), chips);
  column->addWidget(chips);
  column->addWidget(note_);
  note_->setObjectName(QStringLiteral("error"));
  input_->setProperty("kind", QStringLiteral("chip"));
  input_->setMinimumWidth(Theme::lines(5.5));
  input_->setPlaceholderText(placeholder_of(about));
  input_->setAccessibleName(tr("Add values of %1").arg(name));
  input_->setToolTip(sweep::has_commas(about)   ? tr("Values separated by semicolons. Enter adds them.")
                     : sweep::is_numeric(about) ? tr("Values separated by commas, or a range: 16..256 x2, "
                                                     "0.1..0.5 +0.1. Enter adds them.")
                                                : tr("Values separated by commas. Enter adds them."));
  if (!about.choices.empty()) {
    QStringList choices;
    for (const std::string& choice : about.choices)
      choices << QString::fromStdString(choice);
    auto* completer = new QCompleter(choices, input_);
    completer->setCaseSensitivity(Qt::CaseInsensitive);
    input_->setCompleter(completer);
    connect(completer, qOverload<const QString&>(&QCompleter::activated), this, [this] { read_typed(); });
  }
  input_->installEventFilter(this);
  connect(input_, &QLineEdit::textEdited, this, &ValueRow::read_typed);
  connect(input_, &QLineEdit::returnPressed, this, &ValueRow::take_typed);
  flow_->insertWidget(0, input_);
}

void ValueRow::set_values(const sweep::Variation& variation, const std::set<std::string>& fixed) {
  if (variation == variation_ && fixed == fixed_ && !chips_.isEmpty())
    return;
  variation_ = variation;
  fixed_ = fixed;
  make_chips();
}

sweep::Variation ValueRow::variation() const {
  return typed_ ? joined(variation_, *typed_) : variation_;
}

void ValueRow::edit() {
  input_->setFocus(Qt::OtherFocusReason);
}

QString ValueRow::chip_text(const std::string& value) const {
  return value_name(field_, value);
}

void ValueRow::make_chips() {
  const int focused = static_cast<int>(chips_.indexOf(qobject_cast<QPushButton*>(focusWidget())));
  for (QPushButton* chip : std::as_const(chips_)) {
    delete flow_->takeAt(0);
    chip->hide();
    chip->deleteLater(); // this may be called from its own click
  }
  chips_.clear();
  QStringList keys;
  if (const auto& range = variation_.interval)
    keys << tr("%1 to %2, %3").arg(range->from).arg(range->to).arg(range->log ? tr("log") : tr("uniform"));
  for (const std::string& value : variation_.values)
    keys << QString::fromStdString(value);
  for (const QString& key : std::as_const(keys)) {
    auto* chip = plain_button(variation_.interval ? key : chip_text(key.toStdString()), this);
    chip->setProperty("kind", QStringLiteral("chip"));
    const bool stays = fixed_.count(key.toStdString()) > 0;
    if (!fixed_.empty() && !stays)
      chip->setProperty("tone", QStringLiteral("accent"));
    chip->setToolTip(stays ? tr("Part of this sweep; its runs can be skipped in the table")
                           : tr("Click or press Del to remove it"));
    chip->setAccessibleName(stays ? chip->text() : tr("Remove %1").arg(chip->text()));
    chip->installEventFilter(this);
    if (!stays)
      connect(chip, &QPushButton::clicked, this, [this, key] { remove(key); });
    flow_->insertWidget(static_cast<int>(chips_.size()), chip);
    chip->show();
    setTabOrder(chips_.isEmpty() ? chip : chips_.last(), chip);
    chips_ << chip;
  }
  if (!chips_.isEmpty())
    setTabOrder(chips_.last(), input_);
  if (focused >= 0)
    (focused < chips_.size() ? static_cast<QWidget*>(chips_[focused]) : input_)->setFocus();
  updateGeometry();
}

void ValueRow::remove(const QString& key) {
  std::erase(variation_.values, key.toStdString());
  if (variation_.interval)
    variation_.interval.reset();
  if (variation_.values.empty() && !typed_)
    return Q_EMIT removed();
  make_chips();
  Q_EMIT changed();
}

void ValueRow::read_typed() {
  typed_.reset();
  QString error;
  const std::string text = input_->text().trimmed().toStdString();
  try {
    if (!text.empty())
      typed_ = sweep::parse_values(field_, text);
  } catch (const Error& problem) {
    error = QString::fromUtf8(problem.what());
  }
  show_error(error);
  Q_EMIT changed();
}

void ValueRow::take_typed() {
  if (!typed_)
    return;
  variation_ = joined(variation_, *typed_);
  typed_.reset();
  input_->clear();
  make_chips();
  Q_EMIT changed();
}

void ValueRow::show_error(const QString& error) {
  error_ = without_option(error);
  note_->show_note(error_, !error_.isEmpty());
  mark_wrong(*input_, !error_.isEmpty());
  input_->setAccessibleDescription(error_);
}

bool ValueRow::eventFilter(QObject* watched, QEvent* event) {
  if (watched == input_) {
    if (event->type() == QEvent::FocusOut)
      take_typed();
    return false;
  }
  if (event->type() != QEvent::KeyPress)
    return false;
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key != Qt::Key_Delete && key != Qt::Key_Backspace)
    return false;
  static_cast<QPushButton*>(watched)->click();
  return true;
}

} // namespace batchscope::ui

#include "moc_value_row.cpp"
