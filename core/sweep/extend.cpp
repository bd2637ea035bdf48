#include "core/sweep/extend.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/run/spec_fields.h"
#include "core/sweep/settings_key.h"

namespace batchscope::sweep {

namespace {

/// The value that all runs of the sweep have of a field that does not vary.
std::string shared_value(const SweepSpec& spec, const std::string& key) {
  const run::SpecField& field = run::spec_field(key);
  const std::string text = run::field_text(spec.base, key);
  if (!text.empty())
    return text;
  try {
    run::RunSpec named;
    run::set_field(named, field.key, run::field_shown(spec.base, field.key));
    if (const std::string value = run::field_text(named, field.key); !value.empty())
      return value;
  } catch (const Error&) {
    // Its default is described in words.
  }
  throw input_error(
      fmt::format("{}: the runs of this sweep leave it out, and its default is no single value; accepted: "
                  "a new sweep over it",
                  field.option));
}

void add_values(SweepSpec& spec, const Variation& more) {
  const run::SpecField& field = run::spec_field(more.field);
  if (spec.random)
    throw input_error(
        fmt::format("{}: a sweep with --random takes no further values; accepted: a larger --random", field.option));
  if (more.interval)
    throw input_error(field.option + ": a range without steps needs --random; accepted: values");
  auto found = std::find_if(spec.vary.begin(), spec.vary.end(),
                            [&](const Variation& variation) { return variation.field == more.field; });
  if (found == spec.vary.end())
    found = spec.vary.insert(found, {.field = more.field, .values = {shared_value(spec, more.field)}, .interval = {}});
  for (const std::string& value : more.values)
    if (std::find(found->values.begin(), found->values.end(), value) == found->values.end())
      found->values.push_back(value);
}

void check_growth(const char* option, std::int64_t before, std::int64_t now) {
  if (now < before)
    throw input_error(
        fmt::format("{}: {} is not accepted; accepted: at least {}, as the sweep has now", option, now, before));
}

std::set<std::string> settings_of(const SweepSpec& spec) {
  std::set<std::string> keys;
  for (const run::RunSpec& run : combinations(spec))
    keys.insert(settings_key(run));
  return keys;
}

} // namespace

SweepSpec extended(const SweepSpec& spec, const Extension& extension) {
  SweepSpec more = spec;
  for (const Variation& values : extension.values)
    add_values(more, values);
  if (extension.repeats) {
    check_growth("--repeats", spec.repeats, *extension.repeats);
    more.repeats = *extension.repeats;
  }
  if (extension.random) {
    if (!spec.random)
      throw input_error(
          "--random: this sweep has all combinations; accepted: for a sweep that was begun with --random");
    check_growth("--random", *spec.random, *extension.random);
    more.random = *extension.random;
  }
  check(more);
  const auto before = settings_of(spec);
  const auto now = settings_of(more);
  if (!std::includes(now.begin(), now.end(), before.begin(), before.end()))
    throw input_error(fmt::format("{}: its default in this sweep depends on another setting that varies; accepted: a "
                                  "new sweep over it",
                                  run::spec_field(more.vary.back().field).option));
  return more;
}

} // namespace batchscope::sweep
