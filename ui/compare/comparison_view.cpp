#include "ui/compare/comparison_view.h"

#include <algorithm>

#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

constexpr std::size_t many = 48; ///< of more runs, those of the answer stand out without marks

} // namespace

ComparisonView::ComparisonView(QObject* parent) : QObject(parent) {}

void ComparisonView::set_comparison(std::shared_ptr<const Comparison> comparison, std::vector<std::size_t> visible) {
  comparison_ = std::move(comparison);
  visible_ = std::move(visible);
  groups_ = group_by(*comparison_, groups_.field);
  emphasize();
  Q_EMIT comparison_changed();
}

void ComparisonView::set_visible(std::vector<std::size_t> visible) {
  visible_ = std::move(visible);
  emphasize();
  Q_EMIT visible_changed();
}

void ComparisonView::set_answer(const compare::Answer& answer) {
  answer_ = answer;
  const bool shown = !marking() && visible_.size() > many;
  if (shown)
    emphasize();
  Q_EMIT answer_changed();
  if (shown)
    Q_EMIT marks_changed(nullptr);
}

void ComparisonView::set_grouping(const QString& field) {
  groups_ = group_by(*comparison_, field);
  Q_EMIT grouping_changed();
}

void ComparisonView::mark(const std::vector<std::size_t>& runs, const QObject* by) {
  QSet<qint64> marked;
  marked.reserve(static_cast<qsizetype>(runs.size()));
  for (const std::size_t run : runs)
    marked.insert(id(run));
  if (marked == marked_ && by != nullptr)
    return;
  marked_ = std::move(marked);
  emphasize();
  Q_EMIT marks_changed(by);
}

std::vector<std::size_t> ComparisonView::marked_runs() const {
  std::vector<std::size_t> runs;
  for (const std::size_t run : visible_)
    if (marked(run))
      runs.push_back(run);
  return runs;
}

void ComparisonView::emphasize() {
  emphasized_ = marking() ? marked_runs() : visible_;
  if (!marking() && visible_.size() > many && !answer_.runs.empty())
    std::erase_if(emphasized_, [this](std::size_t run) {
      return std::find(answer_.runs.begin(), answer_.runs.end(), id(run)) == answer_.runs.end();
    });
  emphasis_.assign(comparison_->runs().size(), false);
  for (const std::size_t run : emphasized_)
    emphasis_[run] = true;
  give_looks();
}

/// The same ones whatever is marked, unless the comparison has too many settings.
void ComparisonView::give_looks() {
  looks_.assign(comparison_->runs().size(), -1);
  const auto& groups = comparison_->compared.groups;
  const auto stands_out = [this](const compare::Group& group) {
    return std::any_of(group.runs.begin(), group.runs.end(), [this](std::size_t run) { return emphasis_[run]; });
  };
  const bool all = groups.size() <= Theme::looks;
  if (!all && std::count_if(groups.begin(), groups.end(), stands_out) > Theme::looks)
    return;
  int look = 0;
  for (const compare::Group& group : groups)
    if (all || stands_out(group)) {
      for (const std::size_t run : group.runs)
        looks_[run] = look;
      ++look;
    }
}

std::optional<int> ComparisonView::look(std::size_t run) const {
  return looks_[run] < 0 ? std::nullopt : std::optional(looks_[run]);
}

bool ComparisonView::differs(const CompareField& field) const {
  return std::any_of(visible_.begin(), visible_.end(),
                     [&](std::size_t run) { return field.ranks[run] != field.ranks[visible_.front()]; });
}

} // namespace batchscope::ui

#include "moc_comparison_view.cpp"
