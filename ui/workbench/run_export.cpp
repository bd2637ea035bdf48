#include "ui/workbench/run_export.h"

#include <QAction>
#include <QFileDialog>

#include <algorithm>

#include "core/exchange/export.h"
#include "ui/widgets/file_dialog.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

RunExport::RunExport(Workbench& workbench, QWidget& page, std::function<std::vector<std::int64_t>()> runs)
    : QObject(&page), workbench_(workbench), page_(page), runs_(std::move(runs)) {
  for (const auto& exporter : exchange::exporters()) {
    const QString format = QString::fromStdString(exporter->name());
    auto* action = new QAction(workbench_.theme().icon(QStringLiteral("export")),
                               tr("Export runs as %1…").arg(QString::fromStdString(exporter->title())), this);
    action->setToolTip(tr("Write the selected runs to a file"));
    connect(action, &QAction::triggered, this, [this, format] { ask(format); });
    actions_.append(action);
  }
}

QString RunExport::name_of(std::int64_t id) const {
  const auto& rows = workbench_.run_database().runs();
  const auto row = std::lower_bound(rows.begin(), rows.end(), id,
                                    [](const store::RunRow& each, std::int64_t number) { return each.id < number; });
  return row != rows.end() && row->id == id ? QString::fromStdString(row->name) : QString();
}

void RunExport::ask(const QString& format) {
  const auto runs = runs_();
  if (runs.empty())
    return;
  const auto exporter = exchange::make_exporter(format.toStdString());
  const QString title = QString::fromStdString(exporter->title());
  const QString extension = QString::fromStdString(exporter->extension());
  const QString suffix = extension.isEmpty() ? QString() : u'.' + extension;
  const QString files = extension.isEmpty() ? tr("Folder (*)") : tr("%1 files (*%2)").arg(title, suffix);
  QFileDialog* dialog = save_file_dialog(
      &page_, tr("Export runs as %1").arg(title), {files, tr("All files (*)")},
      file_name_of_runs(name_of(runs.front()), runs.front(), static_cast<qsizetype>(runs.size())) + suffix);
  connect(dialog, &QFileDialog::fileSelected, this,
          [this, runs, format](const QString& file) { write(runs, format, file); });
  dialog->open();
}

void RunExport::write(const std::vector<std::int64_t>& runs, const QString& format, const QString& file) {
  workbench_.run_database().export_runs(
      runs, format, file, this, [this, file, format, count = runs.size()](const QString& error) {
        if (!error.isEmpty()) {
          Q_EMIT workbench_.problem(error);
          return;
        }
        Q_EMIT workbench_.note(count == 1 ? tr("1 run written to %1").arg(file)
                                          : tr("%1 runs written to %2").arg(count).arg(file));
        Q_EMIT written(file, format);
      });
}

} // namespace batchscope::ui

#include "moc_run_export.cpp"
