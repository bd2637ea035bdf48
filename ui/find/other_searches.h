#pragma once

#include <QList>

#include "ui/find/search_view.h"
#include "ui/widgets/widgets.h"

class QGridLayout;

namespace batchscope::ui {

/// What other searches for the same spec came to in this sitting; each can be looked at again.
class OtherSearches : public Card {
  Q_OBJECT

public:
  explicit OtherSearches(const Theme& theme, QWidget* parent = nullptr);

  /// `jobs` as the engine has them, `shown` is the one that the page shows.
  void show_jobs(const QList<Job*>& jobs, const Job* shown);

Q_SIGNALS:
  void chosen(batchscope::ui::Job* job);

private:
  void add_row(Job* job);

  const Theme& theme_;
  QWidget* rows_ = nullptr;
  QGridLayout* grid_ = nullptr;
  QLabel* none_;
};

} // namespace batchscope::ui
