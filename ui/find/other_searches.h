#pragma once

#include <QList>

#include "ui/find/search_view.h"
#include "ui/widgets/widgets.h"

class QGridLayout;
class QToolButton;

namespace batchscope::ui {

/// What other searches for the same spec came to in this sitting; each can be looked at again.
class OtherSearches : public Card {
  Q_OBJECT

public:
  explicit OtherSearches(QWidget* parent = nullptr);

  /// `jobs` as the engine has them, `shown` is the one that the page shows.
  void show_jobs(const QList<Job*>& jobs, const Job* shown);

Q_SIGNALS:
  void chosen(batchscope::ui::Job* job);

private:
  void make_rows();
  QToolButton* add_row(QGridLayout& grid, Job* job);

  QList<Job*> listed_;
  QWidget* rows_ = nullptr;
  QLabel* none_;
};

} // namespace batchscope::ui
