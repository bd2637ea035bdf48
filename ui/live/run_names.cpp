#include "ui/live/run_names.h"

#include <algorithm>

namespace batchscope::ui {

namespace {

const QString between_parts = QStringLiteral(", ");

/// `name` without the largest number of leading parts that it shares with another one; its last part always stays.
QString without_shared(const QString& name, const QStringList& others) {
  const QStringList parts = name.split(between_parts);
  qsizetype shared = 0;
  for (const QString& other : others) {
    const QStringList its = other.split(between_parts);
    qsizetype same = 0;
    while (same + 1 < std::min(parts.size(), its.size()) && parts[same] == its[same])
      ++same;
    shared = std::max(shared, same);
  }
  return parts.mid(shared).join(between_parts);
}

} // namespace

QStringList short_names(const QStringList& names, const QList<qint64>& numbers) {
  QStringList result;
  for (qsizetype i = 0; i < names.size(); ++i) {
    QStringList others = names;
    others.removeAt(i);
    result += without_shared(names[i], others);
  }
  const QStringList shortened = result;
  for (qsizetype i = 0; i < result.size(); ++i) {
    if (shortened.count(shortened[i]) < 2)
      continue;
    // Shortened to the same text: uses the full name, and the number if that is not unique either.
    result[i] = names.count(names[i]) < 2 ? names[i] : QStringLiteral("%1 #%2").arg(shortened[i]).arg(numbers[i]);
  }
  return result;
}

} // namespace batchscope::ui
