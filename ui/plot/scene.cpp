#include "ui/plot/detail/scene.h"

#include <algorithm>

namespace batchscope::ui {

PlotHandle* Scene::handle(std::optional<qint64> id) {
  const auto found =
      std::find_if(handles.begin(), handles.end(), [id](const PlotHandle& handle) { return handle.id == id; });
  return found == handles.end() ? nullptr : &*found;
}

const PlotMark* Scene::mark(std::optional<qint64> id) const {
  const auto found = std::find_if(marks.begin(), marks.end(), [id](const PlotMark& mark) { return mark.id == id; });
  return found == marks.end() ? nullptr : &*found;
}

std::span<const PlotMark> Scene::marks_within(const Range& x) const {
  const std::span<const PlotMark> all(marks.constData(), static_cast<std::size_t>(marks.size()));
  const auto first = std::lower_bound(all.begin(), all.end(), x.first,
                                      [](const PlotMark& mark, double place) { return mark.x < place; });
  const auto end =
      std::upper_bound(first, all.end(), x.second, [](double place, const PlotMark& mark) { return place < mark.x; });
  return {first, end};
}

std::optional<Range> Scene::between_cursors() const {
  if (!cursors[0] || !cursors[1])
    return std::nullopt;
  return std::minmax({*cursors[0], *cursors[1]});
}

} // namespace batchscope::ui
