#include "ui/opened_runs/run_looks.h"

#include <algorithm>
#include <numeric>

#include "ui/theme/theme.h"

namespace batchscope::ui {

QList<int> run_looks(const QList<qint64>& runs) {
  QList<qsizetype> by_number(runs.size());
  std::iota(by_number.begin(), by_number.end(), 0);
  std::sort(by_number.begin(), by_number.end(), [&](qsizetype a, qsizetype b) { return runs[a] < runs[b]; });
  QList<int> looks(runs.size(), -1);
  for (const qsizetype at : by_number) {
    int look = static_cast<int>((std::max<qint64>(runs[at], 1) - 1) % Theme::looks);
    for (int tried = 1; tried < Theme::looks && looks.contains(look); ++tried)
      look = (look + 1) % Theme::looks;
    looks[at] = look;
  }
  return looks;
}

} // namespace batchscope::ui
