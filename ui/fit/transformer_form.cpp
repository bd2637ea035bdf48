#include "ui/fit/transformer_form.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QLabel>
#include <QPushButton>

#include "core/base/error.h"
#include "core/estimate/run_of.h"
#include "core/estimate/transformer.h"
#include "ui/widgets/file_dialog.h"
#include "ui/widgets/format.h"
#include "ui/widgets/labelled_edit.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr int columns = 3;
constexpr qint64 largest_config = 1 << 20; ///< bytes; real ones have some thousand

QComboBox* make_choice(const QString& name, const QList<std::pair<QString, QString>>& choices, QWidget* parent) {
  auto* box = new QComboBox(parent);
  box->setAccessibleName(name);
  for (const auto& [key, text] : choices)
    box->addItem(text, key);
  return box;
}

QWidget* named(const QString& name, QWidget* field) {
  auto* box = new QWidget(field->parentWidget());
  auto* column = new QVBoxLayout(box);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(3);
  auto* label = dimmed_label(name, box);
  label->setBuddy(field);
  column->addWidget(label);
  column->addWidget(field);
  column->addStretch();
  return box;
}

} // namespace

TransformerForm::TransformerForm(QWidget* parent)
    : QWidget(parent), precision_(make_choice(tr("Precision"),
                                              {{QStringLiteral("fp32"), tr("fp32")},
                                               {QStringLiteral("mixed"), tr("mixed (bf16)")},
                                               {QStringLiteral("fp16"), tr("pure 16 bit")},
                                               {QStringLiteral("int8"), tr("int8 + LoRA")},
                                               {QStringLiteral("4bit"), tr("4 bit + LoRA")}},
                                              this)),
      optimizer_(make_choice(tr("Optimizer"),
                             {{QStringLiteral("adamw"), tr("AdamW")},
                              {QStringLiteral("adam8bit"), tr("8-bit Adam")},
                              {QStringLiteral("momentum"), tr("SGD with momentum")},
                              {QStringLiteral("sgd"), tr("SGD")}},
                             this)),
      checkpointing_(new QCheckBox(tr("Activation checkpointing"), this)), remark_(dimmed_label({}, this)) {
  sizes_ = {
      add_number(tr("Layers"), tr("Transformer blocks"), 12), add_number(tr("Width"), tr("Hidden size"), 768),
      add_number(tr("Heads"), tr("Attention heads"), 12),
      add_number(tr("Vocabulary"), tr("Number of different tokens"), static_cast<int>(estimate::default_vocabulary))};
  sequence_ = add_number(tr("Sequence"), tr("Tokens per example"), 1024);
  batch_ = add_number(tr("Batch size"), tr("Examples per forward and backward pass"), 8);
  lora_ =
      add_number(tr("LoRA rank"), tr("Of adapters on the query and value projections; 0: all weights are trained"), 0);
  for (LabelledEdit* size : sizes_)
    connect(size->edit(), &QLineEdit::textEdited, this, &TransformerForm::forget_config);
  auto* read = plain_button(tr("Read config.json…"), this);
  read->setObjectName(QStringLiteral("read-config"));
  read->setToolTip(tr("Take the sizes of a Hugging Face model"));
  connect(read, &QPushButton::clicked, this, &TransformerForm::ask_for_config);
  connect(precision_, &QComboBox::activated, this, &TransformerForm::changed);
  connect(optimizer_, &QComboBox::activated, this, &TransformerForm::changed);
  connect(checkpointing_, &QCheckBox::clicked, this, &TransformerForm::changed);
  remark_->setObjectName(QStringLiteral("config-remark"));
  remark_->setWordWrap(true);
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  QList<QWidget*> fields{sizes_[0],
                         sizes_[1],
                         sizes_[2],
                         sizes_[3],
                         sequence_,
                         batch_,
                         named(tr("Precision"), precision_),
                         named(tr("Optimizer"), optimizer_),
                         lora_};
  for (int i = 0; i < fields.size(); ++i)
    grid->addWidget(fields[i], i / columns, i % columns);
  const int below = static_cast<int>(fields.size()) / columns;
  grid->addWidget(checkpointing_, below, 0, 1, 2);
  grid->addWidget(read, below, 2);
  grid->addWidget(remark_, below + 1, 0, 1, columns);
  grid->setRowStretch(below + 2, 1);
}

LabelledEdit* TransformerForm::add_number(const QString& name, const QString& help, int number) {
  auto* edit = new LabelledEdit(name, this);
  edit->set_help(help);
  edit->set_text(QString::number(number));
  connect(edit->edit(), &QLineEdit::textEdited, this, &TransformerForm::changed);
  return edit;
}

std::optional<std::int64_t> TransformerForm::number_of(LabelledEdit& edit, std::int64_t least) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  bool is_number = false;
  const qlonglong number = edit.text().remove(u',').toLongLong(&is_number);
  const bool good = is_number && number >= least && number <= most;
  edit.set_error(good ? QString() : tr("A whole number of %1 or more").arg(least));
  return good ? std::optional<std::int64_t>(number) : std::nullopt;
}

std::optional<estimate::Training> TransformerForm::training() {
  const auto sequence = number_of(*sequence_, 1), batch = number_of(*batch_, 1), rank = number_of(*lora_, 0);
  if (!sequence || !batch || !rank)
    return std::nullopt;
  estimate::Training training;
  training.batch = static_cast<double>(*batch);
  training.sequence = static_cast<double>(*sequence);
  training.lora_rank = static_cast<double>(*rank);
  training.precision = estimate::precision_from(precision_->currentData().toString().toStdString());
  training.optimizer = estimate::optimizer_from(optimizer_->currentData().toString().toStdString());
  training.checkpointing = checkpointing_->isChecked();
  const bool quantized = training.precision == estimate::Training::Precision::int8 ||
                         training.precision == estimate::Training::Precision::int4;
  if (quantized && *rank == 0) {
    lora_->set_error(tr("Quantized weights cannot be trained: set a LoRA rank of 1 or more"));
    return std::nullopt;
  }
  return training;
}

std::optional<TransformerForm::Value> TransformerForm::value() {
  std::vector<std::int64_t> sizes;
  for (LabelledEdit* edit : sizes_)
    if (const auto size = number_of(*edit, 1))
      sizes.push_back(*size);
  const auto trained = training();
  if (!trained || sizes.size() < static_cast<std::size_t>(sizes_.size()))
    return std::nullopt;
  try {
    return Value{config_ ? *config_
                         : estimate::gpt_of(sizes[0], sizes[1], sizes[2], sizes[3],
                                            static_cast<std::int64_t>(trained->sequence)),
                 *trained};
  } catch (const Error& error) { // heads that do not divide the width
    sizes_[2]->set_error(QString::fromUtf8(error.what()));
    return std::nullopt;
  }
}

void TransformerForm::forget_config() {
  config_.reset();
  config_text_.clear();
  remark_->clear();
}

void TransformerForm::read_config(const QString& file) {
  QFile config(file);
  if (!config.open(QIODevice::ReadOnly))
    return remark_->setText(tr("%1 cannot be read: %2").arg(file, config.errorString()));
  take_config(QString::fromUtf8(config.read(largest_config)), QFileInfo(file).fileName());
  Q_EMIT changed();
}

void TransformerForm::take_config(const QString& text, const QString& name) {
  try {
    config_ = estimate::transformer_from_config(text.toStdString(), name.toStdString());
  } catch (const Error& error) {
    remark_->setText(QString::fromUtf8(error.what()));
    return;
  }
  config_text_ = text;
  config_name_ = name;
  const std::int64_t sizes[] = {config_->layers, config_->width, config_->heads, config_->vocabulary};
  for (int i = 0; i < sizes_.size(); ++i)
    sizes_[i]->set_text(QString::number(sizes[i]));
  remark_->setText(tr("%1, %2 parameters, from %3")
                       .arg(QString::fromStdString(config_->family),
                            format_count(static_cast<std::int64_t>(config_->parameters)), name));
}

void TransformerForm::ask_for_config() {
  QFileDialog* dialog = open_file_dialog(this, tr("Choose the config.json of a model"),
                                         {tr("Configurations (*.json)"), tr("All files (*)")});
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, &TransformerForm::read_config);
  dialog->open();
}

QJsonObject TransformerForm::state() const {
  QJsonObject state{{"precision", precision_->currentData().toString()},
                    {"optimizer", optimizer_->currentData().toString()},
                    {"checkpointing", checkpointing_->isChecked()},
                    {"sequence", sequence_->text()},
                    {"batch", batch_->text()},
                    {"lora", lora_->text()}};
  if (config_) {
    state.insert(QStringLiteral("config"), config_text_);
    state.insert(QStringLiteral("config_name"), config_name_);
  }
  const char* names[] = {"layers", "width", "heads", "vocabulary"};
  for (int i = 0; i < sizes_.size(); ++i)
    state.insert(QLatin1String(names[i]), sizes_[i]->text());
  return state;
}

void TransformerForm::restore(const QJsonObject& state) {
  forget_config();
  const auto set = [&](LabelledEdit* edit, const char* name) {
    if (const QString text = state.value(QLatin1String(name)).toString(); !text.isEmpty())
      edit->set_text(text);
  };
  const char* names[] = {"layers", "width", "heads", "vocabulary"};
  for (int i = 0; i < sizes_.size(); ++i)
    set(sizes_[i], names[i]);
  set(sequence_, "sequence");
  set(batch_, "batch");
  set(lora_, "lora");
  for (auto [box, name] : {std::pair{precision_, "precision"}, std::pair{optimizer_, "optimizer"}})
    if (const int index = box->findData(state.value(QLatin1String(name)).toString()); index >= 0)
      box->setCurrentIndex(index);
  checkpointing_->setChecked(state.value("checkpointing").toBool(checkpointing_->isChecked()));
  if (const QString config = state.value("config").toString(); !config.isEmpty())
    take_config(config, state.value("config_name").toString());
}

} // namespace batchscope::ui

#include "moc_transformer_form.cpp"
