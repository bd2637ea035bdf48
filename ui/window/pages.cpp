#include "ui/window/pages.h"

#include "ui/advice/advice_page.h"
#include "ui/compare/compare_page.h"
#include "ui/find/find_page.h"
#include "ui/fit/fit_page.h"
#include "ui/live/live_page.h"
#include "ui/new_run/new_run_page.h"
#include "ui/runs/runs_page.h"
#include "ui/schedule/schedule_page.h"
#include "ui/sweep/sweep_page.h"

namespace batchscope::ui {

QList<Page*> make_pages(Workbench& workbench) {
  return {new RunsPage(workbench),  new NewRunPage(workbench),  new FitPage(workbench),
          new FindPage(workbench),  new LivePage(workbench),    new SchedulePage(workbench),
          new SweepPage(workbench), new ComparePage(workbench), new AdvicePage(workbench)};
}

} // namespace batchscope::ui
