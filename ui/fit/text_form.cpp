#include "ui/fit/text_form.h"

#include <QGridLayout>

#include "core/base/error.h"
#include "core/base/shell_words.h"
#include "core/base/text.h"
#include "core/run/model_spec.h"
#include "ui/widgets/labelled_edit.h"

namespace batchscope::ui {

TextForm::TextForm(const QList<Field>& fields, int columns, QWidget* parent) : QWidget(parent), fields_(fields) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  for (int i = 0; i < fields_.size(); ++i) {
    auto* edit = new LabelledEdit(fields_[i].name, this);
    edit->edit()->setObjectName(fields_[i].key);
    edit->set_help(fields_[i].help);
    edit->set_text(fields_[i].text);
    if (!fields_[i].choices.isEmpty())
      edit->set_choices(fields_[i].choices);
    connect(edit->edit(), &QLineEdit::textEdited, this, &TextForm::changed);
    edits_.append(edit);
    const bool wide = columns > 1 && i < 2; // names of models, data and commands are long
    grid->setRowStretch(2 + static_cast<int>(fields_.size()), 1);
    grid->addWidget(edit, wide ? i : 2 + (i - 2) / columns, wide ? 0 : (i - 2) % columns, 1, wide ? columns : 1);
  }
}

std::optional<run::RunSpec> TextForm::value() {
  run::RunSpec spec;
  bool good = true;
  for (int i = 0; i < fields_.size(); ++i) {
    QString error;
    try {
      fields_[i].set(spec, edits_[i]->text().toStdString());
    } catch (const Error& refused) {
      error = QString::fromUtf8(refused.what());
      good = false;
    }
    edits_[i]->set_error(error);
  }
  return good ? std::optional(spec) : std::nullopt;
}

QJsonObject TextForm::state() const {
  QJsonObject state;
  for (int i = 0; i < fields_.size(); ++i)
    state.insert(fields_[i].key, edits_[i]->text());
  return state;
}

void TextForm::restore(const QJsonObject& state) {
  for (int i = 0; i < fields_.size(); ++i)
    if (const QJsonValue text = state.value(fields_[i].key); text.isString())
      edits_[i]->set_text(text.toString());
}

TextForm* make_network_form(QWidget* parent) {
  return new TextForm(
      {{QStringLiteral("model"),
        TextForm::tr("Network"),
        TextForm::tr("A built-in model with its sizes, or torchscript:FILE"),
        QStringLiteral("resnet"),
        {},
        [](run::RunSpec& spec, const std::string& text) {
          run::parse_model(text);
          spec.model = text;
        }},
       {QStringLiteral("data"),
        TextForm::tr("Data"),
        TextForm::tr("Only their shape matters: demo, or synthetic:examples=100000,shape=3x224x224,classes=1000"),
        QStringLiteral("synthetic:examples=1000000,shape=3x224x224,classes=1000"),
        {},
        [](run::RunSpec& spec, const std::string& text) { spec.data = text; }},
       {QStringLiteral("batch"),
        TextForm::tr("Batch size"),
        TextForm::tr("Examples per forward and backward pass"),
        QStringLiteral("64"),
        {},
        [](run::RunSpec& spec, const std::string& text) {
          constexpr std::int64_t most = std::int64_t{1} << 40;
          spec.batch = {.kind = run::BatchChoice::Kind::number, .number = parse_integer(text, "batch", 1, most)};
        }},
       {QStringLiteral("precision"),
        TextForm::tr("Precision"),
        TextForm::tr("fp32 or bf16"),
        QStringLiteral("fp32"),
        {QStringLiteral("fp32"), QStringLiteral("bf16")},
        [](run::RunSpec& spec, const std::string& text) {
          if (text != "fp32" && text != "bf16")
            throw input_error("precision: accepted: fp32, bf16");
          spec.precision = text;
        }},
       {QStringLiteral("optimizer"),
        TextForm::tr("Optimizer"),
        TextForm::tr("sgd, adam, adamw or rmsprop"),
        QStringLiteral("adamw"),
        {QStringLiteral("sgd"), QStringLiteral("adam"), QStringLiteral("adamw"), QStringLiteral("rmsprop")},
        [](run::RunSpec& spec, const std::string& text) {
          run::RunSpec tried = spec;
          tried.optimizer = text;
          run::check(tried);
          spec.optimizer = text;
        }}},
      3, parent);
}

TextForm* make_program_form(QWidget* parent) {
  return new TextForm(
      {{QStringLiteral("command"),
        TextForm::tr("Command"),
        TextForm::tr("{batch} stands for the batch size; without it, the size is given to its Trainer or loader"),
        QStringLiteral("python3 train.py --batch-size {batch}"),
        {},
        [](run::RunSpec& spec, const std::string& text) {
          run::ProgramSpec program;
          program.command = shell_words(text, "command");
          program.attach = true;
          run::check(program);
          spec.program = program;
        }},
       {QStringLiteral("folder"),
        TextForm::tr("Folder"),
        TextForm::tr("Folder in which the program runs; if empty, BatchScope's current folder"),
        {},
        {},
        [](run::RunSpec& spec, const std::string& text) {
          if (spec.program)
            spec.program->folder = text;
        }}},
      2, parent);
}

} // namespace batchscope::ui

#include "moc_text_form.cpp"
