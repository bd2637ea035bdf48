#pragma once

#include <QtCore/QObject>

// The library's header uses Qt's keywords, which this program disables.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach
