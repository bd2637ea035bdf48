#pragma once

#include <memory>

#include "core/estimate/card_fit.h"
#include "ui/memory/memory_parts.h"

class QComboBox;

namespace batchscope::ui {

/// The memory that the run described in a form will need, before it starts: the peak of a step and what fills it, and
/// the largest batch that fits. UI thread.
class PredictionCard : public Card {
  Q_OBJECT

public:
  explicit PredictionCard(const Theme& theme, QWidget* parent = nullptr);

  /// At the batch size of the spec, or at the largest that fits if a search is to choose it.
  void show_prediction(const run::MemoryPrediction& prediction, const run::RunSpec& spec);
  /// The same for a card.
  void show_fit(const estimate::CardFit& fit, const std::vector<estimate::Saving>& savings, const run::RunSpec& spec);
  /// Why there is no prediction.
  void show_none(const QString& why);

  /// The card that the user chose to fit into; empty: the run's own budget.
  QString target() const;

Q_SIGNALS:
  void target_changed();

private:
  void fill_targets();
  void show_peak(const run::MemoryPrediction& prediction, const run::RunSpec& spec, const QList<FactList::Fact>& more);

  QComboBox* target_;
  MemoryParts* parts_;
  FactList* facts_;
  QLabel* savings_title_;
  FactList* savings_; ///< largest batch with each change
  QLabel* remark_;
};

} // namespace batchscope::ui
