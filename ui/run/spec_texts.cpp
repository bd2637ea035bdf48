#include "ui/run/spec_texts.h"

#include <QCoreApplication>

#include <string_view>

#include "core/train/spec_fields.h"

namespace batchscope::ui {

namespace {

/// Whether a text of data, `csv:FILE,target=NAME`, names this file.
bool names_file(std::string_view data, std::string_view file) {
  const auto ends = [&](std::size_t at) { return at >= data.size() || data[at] == ',' || data[at] == ':'; };
  for (auto at = data.find(file); !file.empty() && at != std::string_view::npos; at = data.find(file, at + 1))
    if ((at == 0 || ends(at - 1)) && ends(at + file.size()))
      return true;
  return false;
}

} // namespace

QString field_translation(const std::string& text) {
  return text.empty() ? QString() : QCoreApplication::translate("SpecField", text.c_str());
}

QString short_schedule(const QString& schedule, int most) {
  return schedule.size() > most ? schedule.left(most - 1) + QChar(0x2026) : schedule;
}

std::string field_to_blame(const train::RunSpec& spec, const QString& error) {
  const std::string message = error.toStdString();
  // What is wrong with a file begins with its name: `FILE: ...`, `FILE, line 3: ...`.
  for (const char* behind : {": ", ", line "})
    if (const auto end = message.find(behind);
        end != std::string::npos && names_file(spec.data, std::string_view(message).substr(0, end)))
      return "data";
  return train::field_of_error(message);
}

} // namespace batchscope::ui
