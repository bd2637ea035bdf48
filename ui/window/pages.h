#pragma once

#include <QList>

#include "ui/workbench/page.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

/// All pages in the order of the rail; add new pages here. The window becomes their parent.
QList<Page*> make_pages(Workbench& workbench);

} // namespace batchscope::ui
