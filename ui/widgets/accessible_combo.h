#pragma once

namespace batchscope::ui {

/// Lets screen readers read combo boxes with their accessible names, `X axis: step`: Qt itself gives only the chosen
/// text as the name of a combo box on Unix. Call it once, after the application was made. UI thread.
void name_combo_boxes();

} // namespace batchscope::ui
