#include "app/window/options.h"

#include <cstdio>

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QFileInfo>

#include "core/base/terminal_text.h"

namespace batchscope::window {

namespace {

constexpr int bad_usage = 2;

void print(const QString& text) {
  std::fputs(qUtf8Printable(text), stdout);
}

} // namespace

Options parse_options(int& argc, char** argv) {
  // The parser needs an application, but not one with a window: help and version are for machines without a display
  // too.
  const QCoreApplication application(argc, argv);
  QCommandLineParser parser;
  parser.setApplicationDescription(QCoreApplication::translate(
      "Options",
      "Finds the batch size and schedule for a network by measurement, and shows training live. batchscope-cli does "
      "the same in a terminal."));
  const QCommandLineOption database(
      "db",
      QCoreApplication::translate(
          "Options", "Run database (default: $BATCHSCOPE_DB, else the last one opened, else the default one)."),
      "FILE");
  const QCommandLineOption check(
      "check-display", QCoreApplication::translate(
                           "Options", "Only check whether a window can be opened: exit status 0 if so, 2 if not."));
  const QCommandLineOption version({"v", "version"}, QCoreApplication::translate("Options", "Print the version."));
  const QCommandLineOption help({"h", "help"}, QCoreApplication::translate("Options", "Print this help."));
  parser.addOptions({database, check, version, help});
  parser.addPositionalArgument("FILE", QCoreApplication::translate("Options", "Run database, as --db."), "[FILE]");
  Options options;
  if (!parser.parse(QCoreApplication::arguments())) {
    options.exit_status = fail(parser.errorText());
    return options;
  }
  QStringList files = parser.values(database) + parser.positionalArguments();
  if (parser.isSet(help)) {
    print(parser.helpText());
    options.exit_status = 0;
  } else if (parser.isSet(version)) {
    print(QStringLiteral("batchscope %1\n").arg(BATCHSCOPE_VERSION));
    options.exit_status = 0;
  } else if (files.size() > 1) {
    options.exit_status =
        fail(QCoreApplication::translate("Options", "one database at a time; %1 given").arg(files.size()));
  } else if (!files.isEmpty() && files.first().isEmpty()) {
    options.exit_status = fail(QCoreApplication::translate("Options", "--db: missing file name"));
  }
  if (!files.isEmpty())
    options.database = QFileInfo(files.first()).absoluteFilePath();
  options.check_display = parser.isSet(check);
  return options;
}

int fail(const QString& message) {
  QString line = message;
  // One line, whatever a file name that was given holds.
  for (QChar& letter : line) {
    if (letter.unicode() < 0x20 || letter.unicode() == 0x7f)
      letter = QLatin1Char(' ');
  }
  std::fprintf(stderr, "batchscope: error: %s\n", terminal_text(line.toStdString()).c_str());
  return bad_usage;
}

} // namespace batchscope::window
