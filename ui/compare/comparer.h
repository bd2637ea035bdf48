#pragma once

#include <QObject>

#include <filesystem>
#include <memory>
#include <vector>

#include "core/compare/answer.h"
#include "ui/compare/comparison_columns.h"
#include "ui/threads/latest_task.h"

namespace batchscope::ui {

/// Reads runs, compares them and answers, on threads of its own. UI thread.
class Comparer : public QObject {
  Q_OBJECT

public:
  explicit Comparer(std::filesystem::path database, QObject* parent = nullptr);
  ~Comparer() override;

  /// Compares these runs, replacing an earlier request. Runs that ended and were read before are not read again; name,
  /// note and outcome are those of the rows. `values`: columns in addition. Emits compared(), or problem().
  void compare(std::vector<store::RunRow> rows, std::vector<SeriesAt> values);
  /// The answer for some of the compared runs. Emits answered().
  void answer(std::shared_ptr<const Comparison> comparison, std::vector<std::size_t> runs, const compare::Goal& goal);

Q_SIGNALS:
  void compared(const std::shared_ptr<const batchscope::ui::Comparison>& comparison);
  /// How many of the runs were read so far, while it takes long.
  void reading(int read, int all);
  void answered(const batchscope::compare::Answer& answer);
  void problem(const QString& text);

private:
  class Cache;

  const std::filesystem::path database_;
  std::shared_ptr<Cache> cache_; ///< used by the reading thread only
  LatestTask reading_;
  LatestTask answering_;
};

} // namespace batchscope::ui
