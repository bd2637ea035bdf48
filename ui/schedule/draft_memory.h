#pragma once

#include <QObject>
#include <QPointer>

#include <optional>
#include <string>

#include "ui/memory/memory_predictor.h"
#include "ui/workbench/known_prediction.h"

namespace batchscope::ui {

/// The memory of the spec that is being planned. It is what was measured since the program started, or else a
/// prediction. On a GPU no prediction is possible; two small trials predict it there when the user asks for that. Of a
/// program only what was measured is known. UI thread.
class DraftMemory : public QObject {
  Q_OBJECT

public:
  explicit DraftMemory(Workbench& workbench, QObject* parent = nullptr);

  /// Looks up the memory of this spec from now on. Known results for the same settings stay until there is something
  /// newer.
  void look_up(const run::RunSpec& spec);
  /// Runs two small probes as a job.
  void probe(const run::RunSpec& spec);

  const std::optional<KnownPrediction>& known() const { return known_; }
  /// If nothing is known: why, or what would make it known.
  QString text() const;
  /// Whether probe() would help.
  bool can_probe() const;

Q_SIGNALS:
  void known_changed();
  void text_changed();

private:
  void set(const std::optional<KnownPrediction>& memory);

  Workbench& workbench_;
  MemoryPredictor predictor_;
  std::optional<KnownPrediction> known_;
  std::optional<run::RunSpec> spec_;
  std::string key_; ///< run::memory_key() of spec_
  bool predicting_ = false;
  QPointer<Job> probing_;
};

} // namespace batchscope::ui
