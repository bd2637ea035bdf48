#include "ui/texts/spec_texts.h"

#include <QCoreApplication>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/run_store.h"

namespace batchscope::ui {

namespace {

/// Whether a terminal uses this database by default. A variable that is set for this program may not be set there.
bool is_default(const std::filesystem::path& database) {
  try {
    return !qEnvironmentVariableIsSet("BATCHSCOPE_DB") &&
           std::filesystem::absolute(database) == std::filesystem::absolute(store::default_database());
  } catch (const Error&) {
    return false; // there is no default
  }
}

} // namespace

QString field_translation(const std::string& text) {
  return text.empty() ? QString() : QCoreApplication::translate("SpecField", text.c_str());
}

QString short_schedule(const QString& schedule, int most) {
  return schedule.size() > most ? schedule.left(most - 1) + QChar(0x2026) : schedule;
}

QString train_command(const run::RunSpec& spec, const std::filesystem::path& database) {
  const std::string named =
      is_default(database) ? std::string() : " --db " + shell_quoted(std::filesystem::absolute(database).string());
  return QString::fromStdString("batchscope-cli train " + run::to_command_line(spec) + named);
}

} // namespace batchscope::ui
