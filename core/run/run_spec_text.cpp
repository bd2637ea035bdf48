#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/run/run_spec.h"

namespace batchscope::run {

namespace {

class Arguments {
public:
  void add(const char* option, const std::string& value) {
    text_ += fmt::format("{}{} {}", gap(), option, shell_quoted(value));
  }
  void add(const char* option) { text_ += std::string(gap()) + option; }

  template <typename Value> void add_changed(const char* option, const Value& value, const Value& standard) {
    if (value != standard)
      add(option, fmt::format("{}", value));
  }
  template <typename Value> void add_set(const char* option, const std::optional<Value>& value) {
    if (value)
      add(option, fmt::format("{}", *value));
  }

  const std::string& text() const { return text_; }

private:
  const char* gap() const { return text_.empty() ? "" : " "; }

  std::string text_;
};

} // namespace

std::string to_command_line(const RunSpec& spec) {
  const RunSpec standard;
  Arguments arguments;
  arguments.add_changed("--name", spec.name, standard.name);
  arguments.add("--model", spec.model);
  arguments.add("--data", spec.data);
  arguments.add_changed("--device", spec.device, standard.device);
  arguments.add_set("--memory-budget", spec.memory_budget);
  arguments.add_changed("--batch", to_string(spec.batch), to_string(standard.batch));
  arguments.add_changed("--accumulate", spec.accumulate, standard.accumulate);
  arguments.add_set("--effective-batch", spec.effective_batch);
  arguments.add_changed("--schedule", spec.schedule, standard.schedule);
  arguments.add_set("--max-batch", spec.max_batch);
  if (spec.drop_last)
    arguments.add("--drop-last");
  arguments.add_changed("--optimizer", spec.optimizer, standard.optimizer);
  arguments.add_set("--lr", spec.learning_rate);
  arguments.add_set("--momentum", spec.momentum);
  arguments.add_set("--weight-decay", spec.weight_decay);
  arguments.add_changed("--lr-rule", spec.lr_rule, standard.lr_rule);
  arguments.add_set("--lr-reference-batch", spec.lr_reference_batch);
  arguments.add_changed("--lr-decay", spec.lr_decay, standard.lr_decay);
  arguments.add_changed("--warmup", spec.warmup, standard.warmup);
  arguments.add_changed("--dropout", spec.dropout, standard.dropout);
  arguments.add_changed("--label-smoothing", spec.label_smoothing, standard.label_smoothing);
  arguments.add_changed("--regularization-rule", spec.regularization_rule, standard.regularization_rule);
  arguments.add_changed("--task", spec.task, standard.task);
  arguments.add_set("--clip", spec.clip);
  if (spec.length.epochs != standard.length.epochs)
    arguments.add_set("--epochs", spec.length.epochs);
  arguments.add_set("--examples", spec.length.examples);
  arguments.add_set("--steps", spec.length.steps);
  arguments.add_changed("--seed", spec.seed, standard.seed);
  arguments.add_changed("--on-oom", to_string(spec.on_oom), to_string(standard.on_oom));
  arguments.add_changed("--margin", spec.margin, standard.margin);
  return arguments.text();
}

} // namespace batchscope::run
