#pragma once

#include <QString>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/run/run_spec.h"
#include "ui/new_run/data_file.h"

namespace batchscope::ui {

/// Settings to begin with. Fields that are not named have their defaults.
struct Preset {
  const char* name;                                        ///< untranslated; see preset_name()
  const char* help;                                        ///< untranslated, one sentence
  std::vector<std::pair<std::string, std::string>> fields; ///< as run::set_field() takes them
  std::optional<DataKind> file;                            ///< of the user's, to be chosen first
};

const std::vector<Preset>& presets();
QString preset_name(const Preset& preset);
QString preset_help(const Preset& preset);
run::RunSpec preset_spec(const Preset& preset);

} // namespace batchscope::ui
