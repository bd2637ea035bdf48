#include "ui/texts/spec_texts.h"

#include <QCoreApplication>

#include <string_view>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/run/spec_fields.h"
#include "core/store/run_store.h"

namespace batchscope::ui {

namespace {

/// Whether a data text, `csv:FILE,target=NAME`, names this file.
bool names_file(std::string_view data, std::string_view file) {
  const auto ends = [&](std::size_t at) { return at >= data.size() || data[at] == ',' || data[at] == ':'; };
  for (auto at = data.find(file); !file.empty() && at != std::string_view::npos; at = data.find(file, at + 1))
    if ((at == 0 || ends(at - 1)) && ends(at + file.size()))
      return true;
  return false;
}

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

std::string field_to_blame(const run::RunSpec& spec, const QString& error) {
  const std::string message = error.toStdString();
  // Errors about a file begin with its name: `FILE: ...`, `FILE, line 3: ...`.
  for (const char* behind : {": ", ", line "})
    if (const auto end = message.find(behind);
        end != std::string::npos && names_file(spec.data, std::string_view(message).substr(0, end)))
      return "data";
  return run::field_of_error(message);
}

} // namespace batchscope::ui
