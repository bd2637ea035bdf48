#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/run/run_spec.h"
#include "core/store/run_reader.h"

// By what the combinations of a sweep are known. The database keeps the key of each run, so that a later version, whose
// specs may have further fields, finds them again.
namespace batchscope::sweep {

/// Equal for specs of runs that differ in nothing but their names: a JSON object of the settings, in ascending order of
/// their names. A setting with its default is left out, so that it is the same as one that is not given, and that a
/// field that is new does not change the key.
std::string settings_key(const run::RunSpec& spec);
/// The same of a stored spec; nothing if it is not one of this program.
std::optional<std::string> settings_key_of(const std::string& spec_json);
/// The key that is stored with a run of a sweep, else that of its spec; empty if it has neither. Throws as
/// store::RunReader.
std::string settings_key_of(const store::RunReader& reader, std::int64_t run);

} // namespace batchscope::sweep
