// The workbench's window: puts engine, database and pages together.
#include <clocale>
#include <exception>

#include <QApplication>
#include <QFileInfo>
#include <QLocale>
#include <QTranslator>

#include "app/window/display.h"
#include "app/window/interrupt.h"
#include "app/window/options.h"
#include "app/window/start_log.h"
#include "core/base/resources.h"
#include "core/base/standard_streams.h"
#include "core/run/engine.h"
#include "core/store/run_store.h"
#include "ui/widgets/accessible_combo.h"
#include "ui/window/main_window.h"
#include "ui/window/pages.h"

namespace batchscope::window {

namespace {

QString first_database(const Options& options, const ui::Settings& settings) {
  if (!options.database.isEmpty())
    return options.database;
  QString last = ui::MainWindow::last_database(settings);
  if (!qEnvironmentVariableIsSet("BATCHSCOPE_DB") && QFileInfo::exists(last))
    return last;
  return QFileInfo(QString::fromStdString(store::default_database().string())).absoluteFilePath();
}

void translate(QApplication& application) {
  auto* translator = new QTranslator(&application);
  const QString folder = QString::fromStdString((resources_folder() / "translations").string());
  if (translator->load(QLocale(), QStringLiteral("batchscope"), QStringLiteral("_"), folder))
    QApplication::installTranslator(translator);
}

int run(int& argc, char** argv, const Options& options) {
  QApplication application(argc, argv);
  // Qt takes the user's locale over for all of C; numbers of specs and schedules are written with a point everywhere.
  std::setlocale(LC_NUMERIC, "C");
  translate(application);
  ui::Theme theme;
  theme.apply_to(application);
  ui::name_combo_boxes();
  InterruptWatch interrupts;
  bool interrupted = false;
  QObject::connect(&interrupts, &InterruptWatch::interrupted, &application, [&interrupted] { interrupted = true; });
  const ui::Settings settings(ui::Settings::default_file());
  for (QString database = first_database(options, settings); !database.isEmpty();) {
    ui::Workbench workbench(theme, database.toStdString());
    ui::MainWindow window(theme, workbench, settings, make_pages(workbench));
    QObject::connect(&interrupts, &InterruptWatch::interrupted, &window, &ui::MainWindow::close_without_asking);
    at_first_paint(window, [&workbench] { workbench.job_queue().load_library(); });
    window.show();
    QApplication::exec();
    // Who ends the program wants no other database, even if one was to be opened.
    database = interrupted ? QString() : window.next_database();
  }
  return 0;
}

} // namespace

} // namespace batchscope::window

int main(int argc, char** argv) {
  using namespace batchscope::window;
  batchscope::open_standard_streams();
  QCoreApplication::setApplicationName(QStringLiteral("batchscope"));
  QCoreApplication::setApplicationVersion(QStringLiteral(BATCHSCOPE_VERSION));
  QGuiApplication::setDesktopFileName(QStringLiteral("batchscope"));
  batchscope::run::set_openmp_wait();
  const Options options = parse_options(argc, argv);
  if (options.exit_status)
    return *options.exit_status;
  if (const QString missing = missing_display(); !missing.isEmpty())
    return fail(missing);
  if (options.check_display)
    return 0;
  try {
    return run(argc, argv, options);
  } catch (const std::exception& error) {
    return fail(QString::fromUtf8(error.what()));
  }
}
