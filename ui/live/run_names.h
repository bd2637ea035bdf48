#pragma once

#include <QStringList>

namespace batchscope::ui {

/// Short distinct names for runs that are shown together: leading parts (up to a comma) that another run has, too, are
/// dropped; equal names get the run's number appended.
QStringList short_names(const QStringList& names, const QList<qint64>& numbers);

} // namespace batchscope::ui
