#pragma once

#include <QWidget>

#include <optional>

#include "core/telemetry/events.h"
#include "ui/theme/theme.h"

class QLabel;

namespace batchscope::ui {

class Card;
class FactList;
class PartsBar;

/// One out-of-memory event in detail: what was requested, what filled the memory, what was done. UI thread.
class OomCard : public QWidget {
  Q_OBJECT

public:
  explicit OomCard(const Theme& theme, QWidget* parent = nullptr);

  /// `whole_process`: where the event does not say so, the bytes in use have parts that the budget does not count; see
  /// OpenRun::reads_whole_process().
  void show_event(std::int64_t step, const telemetry::OutOfMemory& oom, bool whole_process);

private:
  void show_facts(const telemetry::OutOfMemory& oom);
  void show_memory(const telemetry::OutOfMemory& oom);

  const Theme& theme_;
  std::int64_t step_ = 0;
  std::optional<telemetry::OutOfMemory> shown_;
  bool whole_process_ = false;
  Card* card_;
  FactList* facts_;
  QLabel* filled_title_;
  PartsBar* parts_;
  QLabel* done_;
  QLabel* cause_;
  QLabel* kept_;
};

} // namespace batchscope::ui
