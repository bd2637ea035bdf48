#pragma once

#include <QString>
#include <QStringList>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/sweep/extend.h"
#include "core/sweep/run_prediction.h"

// Content of a sweep, without the results of its runs. Values, made off the UI thread.
namespace batchscope::ui {

/// A run of a sweep, planned or stored.
struct SweepEntry {
  run::RunSpec spec;
  std::string prediction_key;       ///< equal for runs of which the same is predicted
  std::vector<std::string> values;  ///< of SweepContent::fields, as run::field_text() gives them
  std::optional<std::int64_t> run;  ///< its newest attempt in the database
  std::optional<std::size_t> place; ///< among the runs that wait, from 0
};

struct SweepContent {
  std::optional<std::int64_t> sweep; ///< number in the database; nothing for a plan
  sweep::SweepSpec spec;
  std::vector<std::string> fields; ///< that vary apart from the seed, in the order of the spec
  std::vector<SweepEntry> entries; ///< combinations in their order, then runs that are none of them
};

/// A run with the values that its spec has of the fields.
SweepEntry entry_of(const run::RunSpec& spec, const std::vector<std::string>& fields);

/// The combinations of a plan; throws Error (input).
SweepContent content_of(const sweep::SweepSpec& spec);

/// The fields of a spec that vary apart from the seed.
std::vector<std::string> varying_fields(const sweep::SweepSpec& spec);

/// Additions of an edited sweep to the stored one.
sweep::Extension extension_to(const sweep::SweepSpec& stored, const sweep::SweepSpec& edited);
/// Number of runs that it adds; throws Error (input).
std::size_t added_runs(const SweepContent& content, const sweep::Extension& extension);

// ---- texts ----

/// Name of a field within a sentence: `batch size`, `learning rate`.
QString field_name(const std::string& field);
/// Text of a value: `50 % of largest`.
QString value_name(const std::string& field, const std::string& value);
/// `Sweep: batch size × learning rate`
QString title_of(const sweep::SweepSpec& spec);
/// `batch 64, learning rate 0.003, seed 2`: what tells a run from the others.
QString entry_name(const SweepContent& content, const SweepEntry& entry);

} // namespace batchscope::ui
