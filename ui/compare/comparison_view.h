#pragma once

#include <QObject>
#include <QSet>

#include <memory>
#include <optional>
#include <vector>

#include "core/compare/answer.h"
#include "ui/compare/comparison_columns.h"

namespace batchscope::ui {

/// State that all parts of the Compare page share: the comparison, which of its runs the filter leaves, and which of
/// those are marked. Marking runs in one part marks them in all. UI thread.
class ComparisonView : public QObject {
  Q_OBJECT

public:
  explicit ComparisonView(QObject* parent = nullptr);

  /// Keeps the marked runs that are in it, too. `visible`: the runs that the filter leaves.
  void set_comparison(std::shared_ptr<const Comparison> comparison, std::vector<std::size_t> visible);
  void set_visible(std::vector<std::size_t> visible);
  void set_answer(const compare::Answer& answer);
  void set_grouping(const QString& field);
  /// Marks visible runs; none: nothing is marked. `by` is passed on, so that a part knows its own marks.
  void mark(const std::vector<std::size_t>& runs, const QObject* by);
  void clear_marks() { mark({}, nullptr); }

  const Comparison& comparison() const { return *comparison_; }
  const std::shared_ptr<const Comparison>& shared() const { return comparison_; }
  const std::vector<std::size_t>& visible() const { return visible_; } ///< ascending
  const RunGroups& groups() const { return groups_; }
  const compare::Answer& answer() const { return answer_; }
  bool marking() const { return !marked_.isEmpty(); }
  bool marked(std::size_t run) const { return marked_.contains(id(run)); }
  std::vector<std::size_t> marked_runs() const; ///< ascending
  /// The runs that are drawn in colour, in front of the others: the marked ones; without marks all, or, of very many,
  /// those of the answer.
  const std::vector<std::size_t>& emphasized() const { return emphasized_; }
  bool is_emphasized(std::size_t run) const { return emphasis_[run]; }
  /// Colour and dashes of an emphasized run and of its repeats, as an index for Theme; nothing if they are too many to
  /// be told apart.
  std::optional<int> look(std::size_t run) const;
  qint64 id(std::size_t run) const { return comparison_->runs()[run].row.id; }
  /// Whether the values of a field differ between visible runs.
  bool differs(const CompareField& field) const;

Q_SIGNALS:
  void comparison_changed(); ///< and all else
  void visible_changed();    ///< and the marks
  void marks_changed(const QObject* by);
  void answer_changed();
  void grouping_changed();

private:
  void emphasize();
  void give_looks();

  std::shared_ptr<const Comparison> comparison_ = std::make_shared<const Comparison>();
  std::vector<std::size_t> visible_;
  RunGroups groups_;
  compare::Answer answer_;
  QSet<qint64> marked_;
  std::vector<std::size_t> emphasized_;
  std::vector<bool> emphasis_; ///< by run
  std::vector<int> looks_;     ///< by run; -1: none
};

} // namespace batchscope::ui
