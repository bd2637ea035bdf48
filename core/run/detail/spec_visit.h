#pragma once

namespace batchscope::run {

/// Calls visit(name, member) for each field of a RunSpec; `name` is its JSON key.
template <typename Spec, typename Visit> void for_each_field(Spec& spec, const Visit& visit) {
  visit("name", spec.name);
  visit("model", spec.model);
  visit("data", spec.data);
  visit("device", spec.device);
  visit("memory_budget", spec.memory_budget);
  visit("batch", spec.batch);
  visit("accumulate", spec.accumulate);
  visit("effective_batch", spec.effective_batch);
  visit("schedule", spec.schedule);
  visit("max_batch", spec.max_batch);
  visit("drop_last", spec.drop_last);
  visit("optimizer", spec.optimizer);
  visit("lr", spec.learning_rate);
  visit("momentum", spec.momentum);
  visit("weight_decay", spec.weight_decay);
  visit("lr_rule", spec.lr_rule);
  visit("lr_reference_batch", spec.lr_reference_batch);
  visit("lr_decay", spec.lr_decay);
  visit("warmup", spec.warmup);
  visit("dropout", spec.dropout);
  visit("label_smoothing", spec.label_smoothing);
  visit("regularization_rule", spec.regularization_rule);
  visit("task", spec.task);
  visit("clip", spec.clip);
  visit("epochs", spec.length.epochs);
  visit("examples", spec.length.examples);
  visit("steps", spec.length.steps);
  visit("seed", spec.seed);
  visit("on_oom", spec.on_oom);
  visit("margin", spec.margin);
}

} // namespace batchscope::run
