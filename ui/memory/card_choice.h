#pragma once

class QComboBox;

namespace batchscope::ui {

/// Adds the GPUs of the table, with their names as data; `oldest`: without those of a lower compute capability (10 *
/// major + minor). Adds none if the table cannot be read.
void add_cards(QComboBox& box, int oldest = 0);

} // namespace batchscope::ui
