#include "ui/new_run/network_panel.h"

#include <QFileDialog>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>

#include "core/data/file_text.h"
#include "ui/memory/prediction_card.h"
#include "ui/new_run/field_editor.h"
#include "ui/new_run/run_summary.h"
#include "ui/widgets/file_dialog.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

namespace {

/// Filters of a file dialog with their kinds of data; those of `kind` come first.
QList<std::pair<QString, std::string>> filters_of(const std::string& kind) {
  QList<std::pair<QString, std::string>> filters{{NetworkPanel::tr("All files (*)"), kind}};
  for (const data::FileFilter& each : data::file_filters()) {
    const QString filter =
        QStringLiteral("%1 (%2)").arg(QString::fromStdString(each.title), QString::fromStdString(each.patterns));
    filters.insert(each.kind == kind ? 0 : filters.size(), {filter, each.kind});
  }
  return filters;
}

} // namespace

NetworkPanel::NetworkPanel(Workbench& workbench, QWidget* parent)
    : RunPanel(FormKind::network, parent), predictor_(workbench.job_queue().data()) {
  make_prediction(workbench);
  lay_out(nullptr, {make_summary(), prediction_});
  add_browse_buttons();
}

QWidget* NetworkPanel::make_summary() {
  auto* card = new Card(tr("Summary of this run"), this);
  summary_ = new QLabel(card);
  summary_->setObjectName(QStringLiteral("summary"));
  summary_->setWordWrap(true);
  summary_->setTextFormat(Qt::RichText);
  card->body()->addWidget(summary_);
  return card;
}

void NetworkPanel::make_prediction(Workbench& workbench) {
  prediction_ = new PredictionCard(workbench.theme(), this);
  connect(&predictor_, &MemoryPredictor::computed, this,
          [this](const std::shared_ptr<const run::MemoryPrediction>& prediction) {
            if (form().spec())
              prediction_->show_prediction(*prediction, *form().spec());
          });
  connect(&predictor_, &MemoryPredictor::card_computed, this,
          [this](const std::shared_ptr<const estimate::CardFit>& fit, const std::vector<estimate::Saving>& savings) {
            if (form().spec())
              prediction_->show_fit(*fit, savings, *form().spec());
          });
  connect(prediction_, &PredictionCard::target_changed, this, &NetworkPanel::request_prediction);
  connect(&predictor_, &MemoryPredictor::refused, prediction_, &PredictionCard::show_none);
}

void NetworkPanel::add_browse_buttons() {
  auto* browse = plain_button(tr("Browse…"));
  browse->setToolTip(tr("Choose a file to train on"));
  form().editor("data")->add_button(browse);
  connect(browse, &QPushButton::clicked, this,
          [this] { ask_for_data(data::file_kind(form().editor("data")->text().toStdString())); });
  auto* own_model = plain_button(tr("Your own…"));
  own_model->setToolTip(tr("Choose a model that torch.jit.save() wrote"));
  form().editor("model")->add_button(own_model);
  connect(own_model, &QPushButton::clicked, this, &NetworkPanel::ask_for_model);
}

void NetworkPanel::show_form() {
  request_prediction();
}

/// Only what is seen is computed: the first prediction loads the engine.
void NetworkPanel::request_prediction() {
  if (!isVisible())
    return;
  const auto& spec = form().spec();
  if (spec && !prediction_->target().isEmpty())
    return predictor_.request_card(*spec, prediction_->target());
  if (spec)
    return predictor_.request(*spec);
  predictor_.cancel();
  prediction_->show_none({});
}

void NetworkPanel::showEvent(QShowEvent* event) {
  RunPanel::showEvent(event);
  request_prediction();
}

void NetworkPanel::show_waiting(const QString& job) {
  QStringList sentences;
  if (const auto& spec = form().spec()) {
    sentences = run_summary(*spec);
    if (!job.isEmpty())
      sentences.prepend(tr("Queued until \"%1\" has ended.").arg(job));
  } else {
    sentences.append(form().errors() == 1
                         ? tr("One field has an error. Correct it to continue.")
                         : tr("%1 fields have errors. Correct them to continue.").arg(form().errors()));
  }
  QString text;
  for (const QString& sentence : sentences)
    text += QStringLiteral("<p style=\"margin: 0 0 5px 0\">%1</p>").arg(sentence.toHtmlEscaped());
  if (text != summary_->text())
    summary_->setText(text);
}

void NetworkPanel::ask_for_data(const std::string& kind) {
  const auto filters = filters_of(kind);
  QStringList names;
  for (const auto& filter : filters)
    names.append(filter.first);
  QFileDialog* dialog = open_file_dialog(this, tr("Choose the file to train on"), names);
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this, dialog, filters](const QString& file) {
    const auto shown = std::find_if(filters.begin(), filters.end(),
                                    [&](const auto& filter) { return filter.first == dialog->selectedNameFilter(); });
    const data::FileText chosen =
        data::text_for_file(file.toStdString(), shown == filters.end() ? std::string() : shown->second);
    form().editor("data")->set_text("data", QString::fromStdString(chosen.text));
    if (!chosen.problem.empty())
      form().remark("data", QString::fromStdString(chosen.problem));
    form().editor("data")->setFocus();
  });
  dialog->open();
}

void NetworkPanel::ask_for_model() {
  QFileDialog* dialog = open_file_dialog(this, tr("Choose a model that torch.jit.save() wrote"),
                                         {tr("TorchScript files (*.pt *.pth *.ts)"), tr("All files (*)")});
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) {
    form().editor("model")->set_text("model", QStringLiteral("torchscript:%1").arg(file));
    if (file.contains(u','))
      form().remark("model", tr("File names with a comma are not supported here"));
    form().editor("model")->setFocus();
  });
  dialog->open();
}

} // namespace batchscope::ui

#include "moc_network_panel.cpp"
