#pragma once

#include <QTimer>
#include <QWidget>

#include <optional>

#include "core/store/run_store.h"

class QLabel;

namespace batchscope::ui {

class Card;
class OutputBox;
class RunDatabase;
struct StoredRun;

/// Why the selected run ended early, with the last that its program wrote. Hidden for runs without a reason. UI thread.
class RunDetails : public QWidget {
  Q_OBJECT

public:
  explicit RunDetails(RunDatabase& run_database, QWidget* parent = nullptr);

  /// Null: none.
  void show_run(const store::RunRow* run);

Q_SIGNALS:
  void appeared();

private:
  void show_reason();
  void take(const StoredRun& stored);

  RunDatabase& run_database_;
  std::optional<store::RunRow> run_;
  Card* card_;
  QLabel* reason_;
  OutputBox* output_;
  QTimer soon_;
};

} // namespace batchscope::ui
