#pragma once

#include <QList>
#include <QString>

// What can be done by keys (and pointer), told on one sheet; see key_sheet.h.
namespace batchscope::ui {

struct KeyHelp {
  QString keys; ///< as they are written on keyboards: Ctrl+K; several with commas
  QString what; ///< a short sentence without its full stop
};

/// Keys that work in one place.
struct KeyGroup {
  QString place;
  QList<KeyHelp> keys;
};

} // namespace batchscope::ui
