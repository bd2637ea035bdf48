#pragma once

#include <string>

#include "core/run/run_spec.h"

namespace batchscope::run {

// The checks and derived values of the table in spec_fields_table.cpp, one per field. Checks throw Error (input).

void check_model(const RunSpec& spec);
void check_data(const RunSpec& spec);
void check_augment(const RunSpec& spec);
void check_stream_shares(const RunSpec& spec);
void check_clock(const RunSpec& spec);
void check_group_by_length(const RunSpec& spec);
void check_seed(const RunSpec& spec);
void check_batch(const RunSpec& spec);
void check_effective_batch(const RunSpec& spec);
void check_schedule(const RunSpec& spec);
void check_max_batch(const RunSpec& spec);
/// Exactly one of epochs, examples and steps.
void check_length(const RunSpec& spec);
void check_momentum(const RunSpec& spec);
void check_warmup(const RunSpec& spec);
void check_device(const RunSpec& spec);
void check_precision(const RunSpec& spec);
// Settings that are fixed within a TorchScript model.
void check_dropout(const RunSpec& spec);
void check_batch_norm_rule(const RunSpec& spec);
void check_checkpointing(const RunSpec& spec);

std::string derived_learning_rate(const RunSpec& spec);
std::string derived_momentum(const RunSpec& spec);
std::string derived_weight_decay(const RunSpec& spec);
/// The effective batch if the spec names it; the next if it follows from batch and accumulation.
std::string derived_reference_batch(const RunSpec& spec);
std::string derived_effective_batch(const RunSpec& spec);

} // namespace batchscope::run
