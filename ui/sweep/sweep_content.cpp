#include "ui/sweep/sweep_content.h"

#include <QCoreApplication>

#include <algorithm>
#include <set>

#include "core/run/spec_fields.h"
#include "core/sweep/settings_key.h"
#include "ui/texts/spec_texts.h"

namespace batchscope::ui {

namespace {

QString translated(const char* text) {
  return QCoreApplication::translate("Sweep", text);
}

} // namespace

std::vector<std::string> varying_fields(const sweep::SweepSpec& spec) {
  std::vector<std::string> fields;
  for (const sweep::Variation& variation : spec.vary)
    if (variation.field != "seed")
      fields.push_back(variation.field);
  return fields;
}

SweepEntry entry_of(const run::RunSpec& spec, const std::vector<std::string>& fields) {
  SweepEntry entry;
  entry.spec = spec;
  for (const std::string& field : fields)
    entry.values.push_back(run::field_text(spec, field));
  run::RunSpec alike = spec;
  alike.name.clear();
  alike.seed = 1; // neither matters for time and memory
  entry.prediction_key = run::to_json(alike, -1);
  return entry;
}

SweepContent content_of(const sweep::SweepSpec& spec) {
  SweepContent content{.sweep = {}, .spec = spec, .fields = varying_fields(spec), .entries = {}};
  if (!spec.base.later_json.empty())
    return content; // of a later version: only its runs are known
  check(spec);
  for (const run::RunSpec& run : combinations(spec))
    content.entries.push_back(entry_of(run, content.fields));
  return content;
}

sweep::Extension extension_to(const sweep::SweepSpec& stored, const sweep::SweepSpec& edited) {
  sweep::Extension extension;
  for (const sweep::Variation& variation : edited.vary) {
    sweep::Variation more{.field = variation.field, .values = {}, .interval = {}};
    const auto known = std::find_if(stored.vary.begin(), stored.vary.end(),
                                    [&](const sweep::Variation& each) { return each.field == variation.field; });
    for (const std::string& value : variation.values)
      if (known == stored.vary.end() ||
          std::find(known->values.begin(), known->values.end(), value) == known->values.end())
        more.values.push_back(value);
    if (!more.values.empty())
      extension.values.push_back(std::move(more));
  }
  if (edited.repeats > stored.repeats)
    extension.repeats = edited.repeats;
  return extension;
}

std::size_t added_runs(const SweepContent& content, const sweep::Extension& extension) {
  if (extension.empty())
    return 0;
  std::set<std::string> there;
  for (const SweepEntry& entry : content.entries)
    there.insert(sweep::settings_key(entry.spec));
  const auto runs = combinations(extended(content.spec, extension));
  return static_cast<std::size_t>(std::count_if(
      runs.begin(), runs.end(), [&](const run::RunSpec& run) { return there.count(sweep::settings_key(run)) == 0; }));
}

QString field_name(const std::string& field) {
  QString name = field_label(field);
  if (!name.isEmpty())
    name[0] = name[0].toLower();
  return name;
}

QString value_name(const std::string& field, const std::string& value) {
  if (field == "batch" && value.ends_with('%'))
    return translated("%1 % of largest").arg(QString::fromStdString(value.substr(0, value.size() - 1)));
  return value.empty() ? translated("default") : QString::fromStdString(value);
}

QString title_of(const sweep::SweepSpec& spec) {
  QStringList names;
  for (const std::string& field : varying_fields(spec))
    names << field_name(field);
  if (names.isEmpty())
    names << translated("seeds");
  return translated("Sweep: %1").arg(names.join(QStringLiteral(" × ")));
}

QString entry_name(const SweepContent& content, const SweepEntry& entry) {
  QStringList parts;
  for (std::size_t i = 0; i < content.fields.size(); ++i)
    parts << QStringLiteral("%1 %2").arg(field_name(content.fields[i]), value_name(content.fields[i], entry.values[i]));
  const bool seeds = content.spec.repeats > 1 || content.fields.size() < content.spec.vary.size();
  if (seeds || parts.isEmpty())
    parts << translated("seed %1").arg(entry.spec.seed);
  return parts.join(QStringLiteral(", "));
}

} // namespace batchscope::ui
