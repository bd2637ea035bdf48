#include "core/advice/detail/python.h"

#include <map>

#include <fmt/format.h>

#include "core/base/text.h"

namespace batchscope::advice::detail {

std::string python(bool value) {
  return value ? "True" : "False";
}

std::string python(double value) {
  return fmt::format("{}", value);
}

std::string comments(const Settings& settings, const std::vector<std::string>& more) {
  std::string text = fmt::format("# {}\n", one_line(settings.heading));
  for (const auto* lines : {&settings.remarks, &more})
    for (const std::string& line : *lines)
      text += fmt::format("# {}\n", one_line(line));
  return text;
}

bool is_mixed(const Settings& settings) {
  return settings.precision == "bf16" || settings.precision == "fp16";
}

std::string float_setting(const Settings& settings) {
  return settings.precision == "tf32" ? "torch.set_float32_matmul_precision(\"high\")  # TF32\n" : "";
}

std::string call(const std::string& target, const std::string& function, const Arguments& arguments) {
  std::string text = fmt::format("{} = {}(\n", target, function);
  for (const auto& [name, value] : arguments)
    text += fmt::format("    {}={},\n", name, value);
  return text + ")\n";
}

Arguments training_arguments(const Settings& settings) {
  const bool smooth = settings.decay == "cosine" || settings.decay == "linear";
  const std::string schedule = smooth                      ? settings.decay
                               : settings.warmup_steps > 0 ? "constant_with_warmup"
                                                           : "constant";
  Arguments arguments{{"output_dir", "\"out\""},
                      {"per_device_train_batch_size", std::to_string(settings.micro_batch)},
                      {"gradient_accumulation_steps", std::to_string(settings.accumulate)}};
  if (settings.epochs)
    arguments.emplace_back("num_train_epochs", std::to_string(*settings.epochs));
  else
    arguments.emplace_back("max_steps", std::to_string(settings.steps));
  arguments.emplace_back("learning_rate", python(settings.learning_rate));
  arguments.emplace_back("lr_scheduler_type", fmt::format("\"{}\"", schedule));
  arguments.emplace_back("warmup_steps", std::to_string(settings.warmup_steps));
  if (settings.optimizer == "sgd") {
    arguments.emplace_back("optim", "\"sgd\"");
    arguments.emplace_back("optim_args", fmt::format("\"momentum={}\"", python(settings.momentum)));
  } else {
    arguments.emplace_back("optim", settings.optimizer == "rmsprop" ? "\"rmsprop\"" : "\"adamw_torch\"");
  }
  arguments.emplace_back("weight_decay", python(settings.weight_decay));
  arguments.emplace_back("label_smoothing_factor", python(settings.label_smoothing));
  arguments.emplace_back("max_grad_norm", python(settings.clip.value_or(0.0)));
  arguments.emplace_back("bf16", python(settings.precision == "bf16"));
  arguments.emplace_back("fp16", python(settings.precision == "fp16"));
  if (settings.precision == "tf32")
    arguments.emplace_back("tf32", "True");
  arguments.emplace_back("gradient_checkpointing", python(settings.checkpointing));
  arguments.emplace_back("dataloader_drop_last", python(settings.drop_last));
  arguments.emplace_back("seed", std::to_string(settings.seed));
  return arguments;
}

std::vector<std::string> trainer_remarks(const Settings& settings) {
  std::vector<std::string> remarks;
  if (settings.optimizer == "adam")
    remarks.push_back(fmt::format("The run used Adam: pass Trainer(..., optimizers=({}, None)) instead of optim.",
                                  optimizer(settings, "model.parameters()")));
  if (settings.decay == "step")
    remarks.emplace_back("The run divided the learning rate by 10 after each third; the rate stays constant here.");
  return remarks;
}

std::string optimizer(const Settings& settings, const std::string& parameters) {
  static const std::map<std::string, std::string> names{
      {"sgd", "SGD"}, {"adam", "Adam"}, {"adamw", "AdamW"}, {"rmsprop", "RMSprop"}};
  return fmt::format("torch.optim.{}({}, lr={}{}, weight_decay={})", names.at(settings.optimizer), parameters,
                     python(settings.learning_rate),
                     settings.optimizer == "sgd" ? ", momentum=" + python(settings.momentum) : "",
                     python(settings.weight_decay));
}

std::string rate_imports(const Settings& settings) {
  return settings.decay == "cosine" ? "import math\n\n" : "";
}

std::string rate_function(const Settings& settings) {
  std::string text =
      "def rate(step):\n    \"\"\"Factor of the learning rate at an optimizer step, counted from 0.\"\"\"\n";
  if (settings.warmup_steps > 0)
    text += fmt::format("    if step < {0}:\n        return step / {0}\n", settings.warmup_steps);
  if (settings.decay == "constant")
    return text + "    return 1.0\n";
  text += fmt::format("    progress = min(1.0, max(0, step - {0}) / max(1, {1} - {0}))\n", settings.warmup_steps,
                      settings.steps);
  if (settings.decay == "cosine")
    return text + "    return (1 + math.cos(math.pi * progress)) / 2\n";
  if (settings.decay == "linear")
    return text + "    return 1 - progress\n";
  return text + "    return 0.1 ** min(2, int(3 * progress))\n";
}

std::string loss_function(const Settings& settings) {
  if (settings.predicts_numbers)
    return "torch.nn.MSELoss()";
  return fmt::format("torch.nn.CrossEntropyLoss({})", settings.label_smoothing > 0
                                                          ? "label_smoothing=" + python(settings.label_smoothing)
                                                          : std::string());
}

} // namespace batchscope::advice::detail
