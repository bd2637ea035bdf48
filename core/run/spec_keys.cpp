#include "core/run/spec_keys.h"

namespace batchscope::run {

namespace {

/// Resets the fields that no trial of a batch size depends on.
RunSpec trial_spec(RunSpec spec) {
  const RunSpec standard;
  spec.name = standard.name;
  spec.group_by_length = standard.group_by_length; // trials run at the greatest length
  spec.init = standard.init;
  spec.save = standard.save;
  spec.batch = standard.batch;
  spec.schedule = standard.schedule;
  spec.length = standard.length;
  spec.max_seconds = standard.max_seconds;
  spec.target_score = standard.target_score;
  spec.evaluate_every = standard.evaluate_every;
  spec.checkpoint_every = standard.checkpoint_every;
  spec.checkpoint_minutes = standard.checkpoint_minutes;
  spec.lr_rule = standard.lr_rule;
  spec.lr_reference_batch = standard.lr_reference_batch;
  spec.lr_decay = standard.lr_decay;
  spec.warmup = standard.warmup;
  spec.task = standard.task;
  spec.on_oom = standard.on_oom;
  spec.grow_back = standard.grow_back;
  spec.margin = standard.margin;
  return spec;
}

/// Resets the fields that do not affect memory.
RunSpec memory_spec(const RunSpec& spec) {
  const RunSpec standard;
  RunSpec rest = trial_spec(spec);
  rest.memory_budget = standard.memory_budget;
  rest.max_batch = standard.max_batch;
  rest.learning_rate = standard.learning_rate;
  rest.weight_decay = standard.weight_decay;
  rest.seed = standard.seed;
  rest.drop_last = standard.drop_last;
  rest.shares = standard.shares;
  rest.clock = standard.clock;
  return rest;
}

} // namespace

std::string trial_key(const RunSpec& spec) {
  return to_json(trial_spec(spec));
}

std::string memory_key(const RunSpec& spec) {
  return to_json(memory_spec(spec));
}

} // namespace batchscope::run
