#pragma once

#include <QStringList>

namespace batchscope::ui {

/// Names of runs that are shown together, each as short as tells it apart: leading parts (up to a comma) that another
/// run has, too, are left out; the same name twice gets its number behind it.
QStringList short_names(const QStringList& names, const QList<qint64>& numbers);

} // namespace batchscope::ui
