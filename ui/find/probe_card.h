#pragma once

#include "ui/find/probe_model.h"
#include "ui/widgets/widgets.h"

class QTableView;

namespace batchscope::ui {

/// The trials of a search as a table, summarized in its title. Selecting a row emits the trial's number, so that the
/// plots can show it.
class ProbeCard : public Card {
  Q_OBJECT

public:
  explicit ProbeCard(const Theme& theme, QWidget* parent = nullptr);

  void show_search(const SearchView& view);
  void choose(int number);
  /// Batch of the selected row.
  std::optional<std::int64_t> chosen_batch() const;

Q_SIGNALS:
  /// `number` is 0 for a size that was not run.
  void chosen(int number, qint64 batch);
  void chosen_none();

private:
  void fit();

  ProbeModel* model_;
  QTableView* table_;
};

} // namespace batchscope::ui
