#pragma once

#include <QList>
#include <QString>

// Descriptions of keys and mouse actions, for the list of keys; see key_sheet.h.
namespace batchscope::ui {

struct KeyHelp {
  QString keys; ///< as printed on keyboards: Ctrl+K; several separated by commas
  QString what; ///< a short sentence without a full stop
};

/// Keys that work in one place.
struct KeyGroup {
  QString place;
  QList<KeyHelp> keys;
};

} // namespace batchscope::ui
