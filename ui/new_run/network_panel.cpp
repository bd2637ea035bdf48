#include "ui/new_run/network_panel.h"

#include <QFileDialog>
#include <QLabel>
#include <QVBoxLayout>

#include "ui/memory/forecast_card.h"
#include "ui/new_run/field_editor.h"
#include "ui/new_run/run_outlook.h"
#include "ui/widgets/file_dialog.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

NetworkPanel::NetworkPanel(Workbench& workbench, QWidget* parent)
    : RunPanel(FormKind::network, parent), forecaster_(workbench.engine().data()) {
  make_forecast(workbench);
  lay_out(nullptr, {make_outlook(), forecast_});
  add_browse_buttons();
}

QWidget* NetworkPanel::make_outlook() {
  auto* card = new Card(tr("Summary of this run"), this);
  outlook_ = new QLabel(card);
  outlook_->setObjectName(QStringLiteral("outlook"));
  outlook_->setWordWrap(true);
  outlook_->setTextFormat(Qt::RichText);
  card->body()->addWidget(outlook_);
  return card;
}

void NetworkPanel::make_forecast(Workbench& workbench) {
  forecast_ = new ForecastCard(workbench.theme(), this);
  connect(&forecaster_, &Forecaster::computed, this, [this](const std::shared_ptr<const run::Forecast>& forecast) {
    if (form().spec())
      forecast_->show_forecast(*forecast, *form().spec());
  });
  connect(&forecaster_, &Forecaster::card_computed, this,
          [this](const std::shared_ptr<const estimate::CardFit>& fit, const std::vector<estimate::Saving>& savings) {
            if (form().spec())
              forecast_->show_fit(*fit, savings, *form().spec());
          });
  connect(forecast_, &ForecastCard::target_changed, this, &NetworkPanel::request_forecast);
  connect(&forecaster_, &Forecaster::refused, forecast_, &ForecastCard::show_none);
}

void NetworkPanel::add_browse_buttons() {
  auto* browse = plain_button(tr("Browse…"));
  browse->setToolTip(tr("Choose a file to train on"));
  form().editor("data")->add_button(browse);
  connect(browse, &QPushButton::clicked, this, [this] { ask_for_data(data_kind(form().editor("data")->text())); });
  auto* own_model = plain_button(tr("Your own…"));
  own_model->setToolTip(tr("Choose a model that torch.jit.save() wrote"));
  form().editor("model")->add_button(own_model);
  connect(own_model, &QPushButton::clicked, this, &NetworkPanel::ask_for_model);
}

void NetworkPanel::show_form() {
  request_forecast();
}

/// Only what is seen is computed: the first forecast loads the engine.
void NetworkPanel::request_forecast() {
  if (!isVisible())
    return;
  const auto& spec = form().spec();
  if (spec && !forecast_->target().isEmpty())
    return forecaster_.request_card(*spec, forecast_->target());
  if (spec)
    return forecaster_.request(*spec);
  forecaster_.cancel();
  forecast_->show_none({});
}

void NetworkPanel::showEvent(QShowEvent* event) {
  RunPanel::showEvent(event);
  request_forecast();
}

void NetworkPanel::show_waiting(const QString& job) {
  QStringList sentences;
  if (const auto& spec = form().spec()) {
    sentences = run_outlook(*spec);
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
  if (text != outlook_->text())
    outlook_->setText(text);
}

void NetworkPanel::ask_for_data(std::optional<DataKind> kind) {
  QFileDialog* dialog = open_file_dialog(this, tr("Choose the file to train on"), name_filters(kind));
  dialog->setFileMode(QFileDialog::ExistingFile);
  connect(dialog, &QFileDialog::fileSelected, this, [this, kind](const QString& file) {
    const DataText data = data_text(file, kind);
    form().editor("data")->set_text("data", data.text);
    if (!data.problem.isEmpty())
      form().remark("data", data.problem);
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
