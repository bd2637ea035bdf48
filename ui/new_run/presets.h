#pragma once

#include <QString>

#include <string>
#include <utility>
#include <vector>

#include "core/run/run_spec.h"

namespace batchscope::ui {

/// Predefined settings. Fields that are not listed keep their defaults.
struct Preset {
  const char* name;                                        ///< untranslated; see preset_name()
  const char* help;                                        ///< untranslated, one sentence
  std::vector<std::pair<std::string, std::string>> fields; ///< values for run::set_field()
  std::string file;                                        ///< kind of file that the user has to choose first, `csv`
};

const std::vector<Preset>& presets();
QString preset_name(const Preset& preset);
QString preset_help(const Preset& preset);
run::RunSpec preset_spec(const Preset& preset);

} // namespace batchscope::ui
