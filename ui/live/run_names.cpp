#include "ui/live/run_names.h"

#include <algorithm>

#include <QSet>

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

/// Names with as many parts each, without those that are the same in all; one part stays.
QStringList without_common(const QStringList& names) {
  QList<QStringList> parts;
  for (const QString& name : names)
    parts += name.split(between_parts);
  const qsizetype count = parts.isEmpty() ? 0 : parts.first().size();
  if (names.size() < 2 || std::any_of(parts.begin(), parts.end(), [&](const auto& its) { return its.size() != count; }))
    return names;
  QStringList result(names.size());
  for (qsizetype part = 0; part < count; ++part) {
    const bool common =
        std::all_of(parts.begin(), parts.end(), [&](const auto& its) { return its[part] == parts.first()[part]; });
    for (qsizetype i = 0; i < names.size() && !common; ++i)
      result[i] += (result[i].isEmpty() ? QString() : between_parts) + parts[i][part];
  }
  return result.contains(QString()) ? names : result;
}

} // namespace

QStringList short_names(const QStringList& whole_names, const QList<qint64>& numbers) {
  const QStringList names = without_common(whole_names);
  if (names != whole_names && QSet<QString>(names.begin(), names.end()).size() == names.size())
    return names;
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
