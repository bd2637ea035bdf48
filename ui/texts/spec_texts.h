#pragma once

#include <QString>

#include <filesystem>
#include <string>

#include "core/run/run_spec.h"

// A run's settings in words, as all forms say them.
namespace batchscope::ui {

/// A text of run::spec_fields(), which are English.
QString field_translation(const std::string& text);

/// A schedule for a line of text: where it is longer than so many letters, its beginning.
QString short_schedule(const QString& schedule, int most = 60);

/// `batchscope-cli train ...`, as a shell takes it: trains the same and stores it in the same database, which is named
/// unless it is the user's own.
QString train_command(const run::RunSpec& spec, const std::filesystem::path& database);

/// The key of the field that a failed start is to be mended in; empty where there is none.
std::string field_to_blame(const run::RunSpec& spec, const QString& error);

} // namespace batchscope::ui
