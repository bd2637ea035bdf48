#include "ui/runs/deleted_runs.h"

#include <QDialogButtonBox>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/runs/run_columns.h"
#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

QString shown(const store::RunRow& run, const char* key) {
  return run_columns()[static_cast<std::size_t>(run_column(QString::fromLatin1(key)))].shown_text(run);
}

/// `12  baseline, finished, 3 Nov 12:40`
QString line_of(const store::RunRow& run) {
  QStringList facts;
  for (const char* key : {"name", "status", "started"})
    if (const QString fact = shown(run, key); !fact.isEmpty())
      facts << fact;
  return QStringLiteral("%1  %2").arg(shown(run, "id"), facts.join(QStringLiteral(", ")));
}

} // namespace

DeletedRuns::DeletedRuns(const std::vector<store::RunRow>& runs, QWidget* parent) : QDialog(parent) {
  setWindowTitle(tr("Restore deleted runs"));
  setAttribute(Qt::WA_DeleteOnClose);
  list_ = new QListWidget(this);
  list_->setAccessibleName(windowTitle());
  list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
    auto* item = new QListWidgetItem(line_of(*run), list_);
    item->setData(Qt::UserRole, static_cast<qlonglong>(run->id));
  }
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, this);
  QPushButton* restore = buttons->addButton(tr("Restore"), QDialogButtonBox::AcceptRole);
  const auto update = [this, restore] {
    const qsizetype count = list_->selectedItems().size();
    restore->setEnabled(count > 0);
    restore->setToolTip(count > 0 ? QString() : tr("Select the runs that are to come back"));
    restore->setText(count > 1 ? tr("Restore %1 runs").arg(count) : tr("Restore"));
  };
  connect(list_, &QListWidget::itemSelectionChanged, this, update);
  connect(list_, &QListWidget::itemDoubleClicked, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(this, &QDialog::accepted, this, [this] { Q_EMIT restored(chosen()); });
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(list_);
  layout->addWidget(buttons);
  if (list_->count() == 1)
    list_->selectAll();
  update();
  list_->setFocus();
  constexpr double wide = 32, high = 18;
  resize(Theme::lines(wide), Theme::lines(high));
}

std::vector<std::int64_t> DeletedRuns::chosen() const {
  std::vector<std::int64_t> runs;
  for (const QListWidgetItem* item : list_->selectedItems())
    runs.push_back(item->data(Qt::UserRole).toLongLong());
  return runs;
}

} // namespace batchscope::ui

#include "moc_deleted_runs.cpp"
