#pragma once

#include <QWidget>

namespace batchscope::ui {

class Workbench;

/// What a database without runs offers: the demo, the search for a batch size, and the import of runs made elsewhere.
/// UI thread.
class StartDoors : public QWidget {
  Q_OBJECT

public:
  explicit StartDoors(Workbench& workbench, QWidget* parent = nullptr);
};

} // namespace batchscope::ui
