#pragma once

#include <QList>

#include "ui/workbench/page.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

/// All pages, in the order of the rail; a new one is a line here. The window takes them as its children.
QList<Page*> make_pages(Workbench& workbench);

} // namespace batchscope::ui
