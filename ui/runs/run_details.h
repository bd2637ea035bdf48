#pragma once

#include <QTimer>
#include <QWidget>

#include <optional>

#include "core/store/run_row.h"

class QLabel;
class QPushButton;

namespace batchscope::ui {

class Card;
class OutputBox;
class OutputView;
class RunDatabase;
struct StoredRun;
class Theme;

/// Details of the selected run: why it ended early and, for a program of the user's own, its output: the last of it if
/// it failed, all of it on request. Hidden for runs that have none of these. UI thread.
class RunDetails : public QWidget {
  Q_OBJECT

public:
  RunDetails(RunDatabase& run_database, const Theme& theme, QWidget* parent = nullptr);

  /// Null: none.
  void show_run(const store::RunRow* run);

Q_SIGNALS:
  void appeared();
  void problem(const QString& text);

private:
  void show_details();
  void show_output(bool shown);
  void set_output_visible(bool visible);
  void ask_for_output();
  void take(const StoredRun& stored);

  RunDatabase& run_database_;
  std::optional<store::RunRow> run_;
  Card* card_;
  QLabel* reason_;
  QPushButton* show_; ///< all of the output
  OutputBox* end_;    ///< of the output
  OutputView* output_;
  QTimer soon_;
};

} // namespace batchscope::ui
