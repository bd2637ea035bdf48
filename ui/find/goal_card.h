#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ui/find/goal_reader.h"
#include "ui/find/search_view.h"
#include "ui/widgets/widgets.h"

class QGridLayout;
class QLabel;
class QPushButton;

namespace batchscope::ui {

class GoalBox;

/// Which of the sizes that fit is best for a goal: offers to train some of them, and shows what each came to. UI
/// thread.
class GoalCard : public Card {
  Q_OBJECT

public:
  explicit GoalCard(QWidget* parent = nullptr);

  /// The search whose sizes are offered; hidden if it found nothing or still runs. `why_not`: why nothing can be
  /// trained now; empty if it can.
  void show_search(const SearchView& view, const QString& why_not);
  /// Null: they have not been trained.
  void show_sizes(std::shared_ptr<const TrainedSizes> sizes);

Q_SIGNALS:
  /// `goal` as on the command line.
  void training_wanted(const QString& goal);
  void comparison_wanted(qint64 sweep);

private:
  void show_offer();
  void fill_table();

  std::vector<std::int64_t> offered_;
  QString why_not_;
  std::shared_ptr<const TrainedSizes> sizes_;

  GoalBox* goal_;
  QPushButton* train_;
  QLabel* about_;
  QLabel* answer_;
  QWidget* table_;
  QGridLayout* cells_;
  QPushButton* compare_;
};

} // namespace batchscope::ui
