// Not "#pragma once": this header is precompiled, see cmake/Settings.cmake.
#ifndef BATCHSCOPE_UI_PLOT_PLOTTING_LIBRARY_H
#define BATCHSCOPE_UI_PLOT_PLOTTING_LIBRARY_H

#include <QtCore/QObject>

// The library's header includes all of QtPrintSupport, and with it all widgets, for types that nothing here uses;
// without them it compiles in half the time.
#define QT_QTPRINTSUPPORT_MODULE_H
// The library's header uses Qt's keywords, which this program disables.
#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach

#endif
