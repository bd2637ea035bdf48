#include "ui/texts/spec_texts.h"

#include <QCoreApplication>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/spec_fields.h"
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

QString field_label(const std::string& key) {
  constexpr std::string_view placeholder = "set.";
  if (key.starts_with(placeholder))
    return QStringLiteral("{%1}").arg(QString::fromStdString(key.substr(placeholder.size())));
  return field_translation(run::spec_field(key).label);
}

QString subject_of(const run::RunSpec& spec) {
  if (spec.program)
    return QString::fromStdString(run::program_name(*spec.program));
  return QCoreApplication::translate("SpecTexts", "%1 on %2")
      .arg(QString::fromStdString(spec.model), QString::fromStdString(spec.data));
}

QString title_of(const run::RunSpec& spec) {
  return spec.name.empty() ? subject_of(spec) : QString::fromStdString(spec.name);
}

QString short_schedule(const QString& schedule, int most) {
  return schedule.size() > most ? schedule.left(most - 1) + QChar(0x2026) : schedule;
}

QString train_command(const run::RunSpec& spec, const std::filesystem::path& database) {
  const std::string named =
      is_default(database) ? std::string() : " --db " + shell_quoted(std::filesystem::absolute(database).string());
  if (!spec.program)
    return QString::fromStdString("batchscope-cli train " + run::to_command_line(spec) + named);
  // The arguments after -- are the program's.
  const std::string database_first = named.empty() ? std::string() : named.substr(1) + ' ';
  return QString::fromStdString("batchscope-cli run " + database_first + run::to_command_line(spec));
}

} // namespace batchscope::ui
