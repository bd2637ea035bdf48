#pragma once

namespace batchscope::ui {

/// Lets screen readers tell combo boxes by their accessible names, with the chosen text as the value: Qt itself gives
/// the chosen text as the name of a combo box on Unix. Call it once, after the application was made. UI thread.
void name_combo_boxes();

} // namespace batchscope::ui
