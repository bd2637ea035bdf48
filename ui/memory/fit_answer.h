#pragma once

#include <QList>
#include <QString>

#include <optional>

#include "core/estimate/card_fit.h"
#include "core/program/trial/card_savings.h"

namespace batchscope::ui {

/// Answer about the memory of a training on a GPU, from whichever computation. A plain value.
struct FitAnswer {
  struct Saving {
    QString change, largest; ///< `activation checkpointing`, `33`
    QString help;            ///< its memory, and how that is known
  };

  std::int64_t batch = 1;         ///< that was asked about; else the largest, or 1
  predict::PeakCurve::Point peak; ///< with that batch; without bytes if that is not known
  std::optional<std::int64_t> largest, safe;
  std::optional<std::uint64_t> reserved_bytes; ///< at the largest batch
  QString method;                              ///< one sentence
  QList<Saving> savings;

  bool fits() const { return largest.value_or(0) >= batch; }
};

/// From steps of the trainer on a pretended GPU, with the fit's batch.
FitAnswer answer_of(const estimate::CardFit& fit, const std::vector<estimate::Saving>& savings);
/// By formula.
FitAnswer answer_of(const estimate::Transformer& model, const estimate::Training& training,
                    const estimate::Target& target);
/// From a search with a program of the user's own.
FitAnswer answer_of(const search::SearchResult& found, const std::vector<program::CardSaving>& savings);

} // namespace batchscope::ui
