#pragma once

#include <QDialog>
#include <QHash>
#include <QTimer>

#include <memory>

#include "ui/database/run_database.h"

class QCheckBox;
class QLabel;
class QProgressBar;
class QPushButton;
class QTableWidget;

namespace batchscope::ui {

class Workbench;

/// Shows what was recognized in files that are to be imported, and for tables which column becomes what, and imports
/// it. Reading and storing never delay the UI thread. Deletes itself when it is closed. UI thread.
class ImportDialog : public QDialog {
  Q_OBJECT

public:
  ImportDialog(Workbench& workbench, const QStringList& paths, QWidget* parent);
  ~ImportDialog() override;

Q_SIGNALS:
  /// Nothing in the files can be imported, nor would other columns change that: why, in one line.
  void refused(const QString& why);

private:
  void make_body();
  void read();
  void show_progress(qsizetype file);
  void take(RunImports::Files files);
  void show_runs();
  void show_columns();
  void show_errors();
  void map_column(const QString& column, const QString& own, const QString& chosen);
  void import();

  Workbench& workbench_;
  const QStringList paths_;
  exchange::ImportOptions options_;
  RunImports::Files files_;
  std::shared_ptr<void> wanted_; ///< the reading whose result is wanted; a newer one replaces it
  QTimer mapped_;                ///< until the files are read again with other columns

  QTableWidget* runs_ = nullptr;
  QLabel* errors_ = nullptr;
  QLabel* columns_title_ = nullptr;
  QTableWidget* columns_ = nullptr;
  QProgressBar* progress_ = nullptr;
  QLabel* state_ = nullptr;
  QCheckBox* follow_ = nullptr;
  QPushButton* import_ = nullptr;
};

/// `Imported 3 runs, 1 was there already.`
QString import_note(const exchange::ImportResult& result);

} // namespace batchscope::ui
