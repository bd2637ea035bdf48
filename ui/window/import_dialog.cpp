#include "ui/window/import_dialog.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QFileInfo>
#include <QHeaderView>
#include <QLineEdit>
#include <QPointer>
#include <QProgressBar>
#include <QTableWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <set>

#include "core/store/run_store.h"
#include "core/telemetry/record.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

namespace {

constexpr int wait_for_more_ms = 300; ///< while a name is typed
constexpr int most_rows = 500;        ///< runs listed; more are counted
constexpr double row_lines = 1.85;

QTableWidget* make_table(const QStringList& titles, const QString& name, QWidget* parent) {
  auto* table = new QTableWidget(0, static_cast<int>(titles.size()), parent);
  prepare_table(*table);
  table->setHorizontalHeaderLabels(titles);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setAccessibleName(name);
  table->verticalHeader()->setDefaultSectionSize(Theme::lines(row_lines));
  return table;
}

QTableWidgetItem* item(const QString& text, bool number = false) {
  auto* item = new QTableWidgetItem(text);
  item->setToolTip(text);
  item->setTextAlignment(Qt::AlignVCenter | (number ? Qt::AlignRight : Qt::AlignLeft));
  return item;
}

qint64 points_of(const store::CompleteRun& run) {
  qint64 points = 0;
  for (const auto& [name, series] : run.series)
    points += static_cast<qint64>(series.size());
  return points;
}

QString series_of(const store::CompleteRun& run) {
  QStringList names;
  for (const auto& [name, series] : run.series)
    names.append(QString::fromStdString(name));
  return names.join(QStringLiteral(", "));
}

std::size_t runs_in(const std::vector<ImportFile>& files) {
  std::size_t runs = 0;
  for (const ImportFile& file : files)
    runs += file.runs.runs.size();
  return runs;
}

void tell_result(Workbench& workbench, const exchange::ImportResult& result, const QString& error) {
  if (!error.isEmpty()) {
    Q_EMIT workbench.problem(ImportDialog::tr("Not imported: %1").arg(error));
    return;
  }
  const auto& runs = result.imported.empty() ? result.known : result.imported;
  Q_EMIT workbench.selection_wanted({runs.begin(), runs.end()});
  Q_EMIT workbench.page_wanted(QStringLiteral("runs"));
  Q_EMIT workbench.note(import_note(result));
}

/// Usual names for a column, which may also get any other name.
QStringList usual_names() {
  QStringList names{QStringLiteral("step"), QStringLiteral("validation_loss"), QStringLiteral("validation_accuracy")};
  for (const std::string& name : telemetry::step_series())
    names.append(QString::fromStdString(name));
  return names;
}

} // namespace

QString import_note(const exchange::ImportResult& result) {
  const std::size_t imported = result.imported.size();
  const std::size_t grown = result.extended.size();
  const std::size_t known = result.known.size() - grown;
  QStringList parts;
  if (imported > 0 || grown == 0)
    parts.append(imported == 1 ? ImportDialog::tr("Imported 1 run")
                               : ImportDialog::tr("Imported %1 runs").arg(imported));
  if (grown > 0)
    parts.append(grown == 1 ? ImportDialog::tr("1 extended") : ImportDialog::tr("%1 extended").arg(grown));
  if (known > 0)
    parts.append(known == 1 ? ImportDialog::tr("1 already imported")
                            : ImportDialog::tr("%1 already imported").arg(known));
  return parts.join(QStringLiteral(", ")) + u'.';
}

ImportDialog::ImportDialog(Workbench& workbench, const QStringList& paths, QWidget* parent)
    : QDialog(parent), workbench_(workbench), paths_(paths) {
  setObjectName(QStringLiteral("import_dialog"));
  setWindowTitle(tr("Import runs"));
  setAttribute(Qt::WA_DeleteOnClose);
  make_body();
  resize(Theme::lines(56), Theme::lines(36));
  mapped_.setSingleShot(true);
  mapped_.setInterval(wait_for_more_ms);
  connect(&mapped_, &QTimer::timeout, this, &ImportDialog::read);
  read();
}

ImportDialog::~ImportDialog() = default;

void ImportDialog::make_body() {
  const int margin = Theme::lines(0.9);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(margin, margin, margin, margin);
  layout->setSpacing(Theme::lines(0.5));
  layout->addWidget(page_title(tr("Import runs"), this));
  runs_ = make_table({tr("Run"), tr("Format"), tr("Steps"), tr("Points"), tr("Series")}, tr("Runs found"), this);
  runs_->horizontalHeader()->setStretchLastSection(true);
  for (const auto& [column, lines] : {std::pair{0, 14.0}, {1, 8.0}, {2, 6.0}, {3, 6.5}})
    runs_->setColumnWidth(column, Theme::lines(lines));
  for (const int column : {2, 3})
    runs_->horizontalHeaderItem(column)->setTextAlignment(Qt::AlignVCenter | Qt::AlignRight);
  layout->addWidget(runs_, 3);
  errors_ = new QLabel(this);
  errors_->setObjectName(QStringLiteral("import-errors"));
  errors_->setProperty("tone", QStringLiteral("error"));
  errors_->setTextFormat(Qt::PlainText);
  errors_->setWordWrap(true);
  errors_->hide();
  layout->addWidget(errors_);
  columns_title_ = dimmed_label(
      tr("Choose a series for each column. One column must be the step; leave a name empty to skip its column."), this);
  columns_title_->setWordWrap(true);
  columns_title_->hide();
  layout->addWidget(columns_title_);
  columns_ = make_table({tr("Column"), tr("Series")}, tr("Columns"), this);
  columns_->setColumnWidth(0, Theme::lines(18));
  columns_->horizontalHeader()->setStretchLastSection(true);
  columns_->setSelectionMode(QAbstractItemView::NoSelection);
  columns_->hide();
  layout->addWidget(columns_, 4);
  follow_ = new QCheckBox(tr("Follow: keep reading while other programs write to them"), this);
  follow_->setObjectName(QStringLiteral("follow"));
  follow_->setToolTip(tr("The runs grow here until this window is closed, or until Stop following in the File menu"));
  layout->addWidget(follow_);
  auto* row = new QHBoxLayout;
  row->setSpacing(margin);
  progress_ = new QProgressBar(this);
  progress_->setTextVisible(false);
  progress_->setMaximumWidth(Theme::lines(10));
  QSizePolicy stays = progress_->sizePolicy();
  stays.setRetainSizeWhenHidden(true); // or all else would move
  progress_->setSizePolicy(stays);
  state_ = dimmed_label({}, this);
  state_->setObjectName(QStringLiteral("import-state"));
  auto* buttons = new QDialogButtonBox(this);
  import_ = filled_button(tr("Import"), buttons);
  buttons->addButton(import_, QDialogButtonBox::AcceptRole);
  buttons->addButton(QDialogButtonBox::Cancel);
  connect(buttons, &QDialogButtonBox::accepted, this, &ImportDialog::import);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  row->addWidget(progress_);
  row->addWidget(state_, 1);
  row->addWidget(buttons);
  layout->addLayout(row);
}

void ImportDialog::read() {
  import_->setEnabled(false);
  wanted_ = std::make_shared<int>(0);
  show_progress(0);
  workbench_.run_database().imports().read(
      paths_, options_, wanted_, [this](qsizetype file) { show_progress(file); },
      [this](RunImports::Files files) { take(std::move(files)); });
}

void ImportDialog::show_progress(qsizetype file) {
  progress_->setRange(0, paths_.size() == 1 ? 0 : static_cast<int>(paths_.size())); // of one file it is not known
  progress_->setValue(static_cast<int>(file));
  progress_->show();
  state_->setText(tr("Reading %1…").arg(QFileInfo(paths_.value(file)).fileName()));
}

void ImportDialog::take(RunImports::Files files) {
  files_ = std::move(files);
  const bool mapped =
      std::any_of(files_->begin(), files_->end(), [](const auto& file) { return !file.columns.empty(); });
  const std::size_t runs = runs_in(*files_);
  if (runs == 0 && !mapped) {
    Q_EMIT refused(files_->empty() ? QString() : files_->front().error);
    reject();
    return;
  }
  progress_->hide();
  state_->setText(runs == 1 ? tr("1 run found") : tr("%1 runs found").arg(format_count(static_cast<qint64>(runs))));
  import_->setText(runs == 1 ? tr("Import 1 run") : tr("Import %1 runs").arg(format_count(static_cast<qint64>(runs))));
  import_->setEnabled(runs > 0);
  show_runs();
  show_errors();
  if (columns_->isHidden() && mapped)
    show_columns();
}

/// In the rows that there are, so that what the user looks at stays in its place.
void ImportDialog::show_runs() {
  const int count = static_cast<int>(std::min<std::size_t>(runs_in(*files_), most_rows));
  runs_->setRowCount(count);
  int row = -1;
  for (const ImportFile& file : *files_) {
    for (const store::CompleteRun& run : file.runs.runs) {
      if (++row == count)
        return;
      runs_->setItem(row, 0, item(QString::fromStdString(run.name)));
      runs_->setItem(row, 1, item(file.format));
      runs_->setItem(row, 2, item(format_count(run.outcome.steps), true));
      runs_->setItem(row, 3, item(format_count(points_of(run)), true));
      runs_->setItem(row, 4, item(series_of(run)));
    }
  }
}

void ImportDialog::show_errors() {
  QStringList lines;
  for (const ImportFile& file : *files_) {
    if (!file.error.isEmpty())
      lines.append(file.error);
    for (const std::string& remark : file.runs.remarks)
      lines.append(QString::fromStdString(remark));
  }
  constexpr qsizetype most = 3;
  if (lines.size() > most)
    lines = lines.first(most) + QStringList{tr("and %1 more").arg(lines.size() - most)};
  errors_->setText(lines.join(u'\n'));
  errors_->setVisible(!lines.isEmpty());
}

/// The columns of all tables, each once. They do not change while other names are chosen.
void ImportDialog::show_columns() {
  std::set<std::string> shown;
  for (const ImportFile& file : *files_) {
    for (const exchange::ImportColumn& column : file.columns) {
      if (!shown.insert(column.name).second)
        continue;
      const int row = columns_->rowCount();
      columns_->insertRow(row);
      const QString name = QString::fromStdString(column.name);
      const QString own = QString::fromStdString(column.series);
      columns_->setItem(row, 0, item(name));
      auto* box = new QComboBox(columns_);
      box->setEditable(true);
      box->addItems(usual_names());
      box->setEditText(own);
      box->lineEdit()->setPlaceholderText(tr("left out"));
      box->setAccessibleName(tr("What %1 becomes").arg(name));
      connect(box, &QComboBox::editTextChanged, this,
              [this, name, own](const QString& chosen) { map_column(name, own, chosen.trimmed()); });
      columns_->setCellWidget(row, 1, box);
    }
  }
  columns_title_->show();
  columns_->show();
}

void ImportDialog::map_column(const QString& column, const QString& own, const QString& chosen) {
  if (chosen == own)
    options_.names.erase(column.toStdString());
  else
    options_.names[column.toStdString()] = chosen.toStdString();
  import_->setEnabled(false); // until the files have been read so
  mapped_.start();
}

void ImportDialog::import() {
  import_->setEnabled(false);
  columns_->setEnabled(false);
  progress_->setRange(0, 0);
  progress_->show();
  state_->setText(tr("Storing the runs…"));
  // Also told if the dialog is closed meanwhile: what has begun is finished.
  const auto stored = [&workbench = workbench_, dialog = QPointer(this)](const exchange::ImportResult& result,
                                                                         const QString& error) {
    tell_result(workbench, result, error);
    if (dialog)
      dialog->accept();
  };
  if (!follow_->isChecked())
    return workbench_.run_database().imports().store(files_, &workbench_, stored);
  QStringList readable;
  for (const ImportFile& file : *files_)
    if (file.error.isEmpty())
      readable += file.path;
  workbench_.run_database().followed_imports().follow(readable, options_, &workbench_, stored);
}

} // namespace batchscope::ui

#include "moc_import_dialog.cpp"
