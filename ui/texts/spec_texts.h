#pragma once

#include <QString>

#include <filesystem>
#include <string>

#include "core/run/run_spec.h"

// Texts for a run's settings, common to all forms.
namespace batchscope::ui {

/// Translates a text of run::spec_fields(), which are English.
QString field_translation(const std::string& text);

/// The label of a run's field, by its key; of a program's placeholder, `{lr}`.
QString field_label(const std::string& key);

/// Subject of a run: "cnn on demo", or the name of the user's own program: "train.py".
QString subject_of(const run::RunSpec& spec);
/// The run's name; without one, its subject.
QString title_of(const run::RunSpec& spec);

/// A schedule in one line; cut off after `most` characters.
QString short_schedule(const QString& schedule, int most = 60);

/// The shell command `batchscope-cli train ...`, or `batchscope-cli run ...` of a program, that makes the same run and
/// stores it in the same database, which is named unless it is the default one.
QString train_command(const run::RunSpec& spec, const std::filesystem::path& database);

} // namespace batchscope::ui
