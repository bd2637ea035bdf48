#include <fmt/format.h>

#include "core/advice/detail/python.h"

namespace batchscope::advice {

namespace {

/// A loop of its own: windows of micro batches whose losses are weighted by their examples.
class PytorchSnippet final : public Snippet {
public:
  std::string name() const override { return "pytorch"; }
  std::string title() const override { return "Plain PyTorch"; }

  std::string text(const Settings& settings) const override {
    return detail::comments(settings, {"Put your own model and dataset in place of `model` and `dataset`."}) +
           detail::rate_imports(settings) + "import torch\n\n" + fmt::format("torch.manual_seed({})\n", settings.seed) +
           detail::float_setting(settings) +
           fmt::format("micro_batch = {}\naccumulate = {}\n", settings.micro_batch, settings.accumulate) +
           "loader = torch.utils.data.DataLoader(\n"
           "    dataset, batch_size=micro_batch * accumulate, shuffle=True, " +
           fmt::format("drop_last={}\n)\n", detail::python(settings.drop_last)) +
           fmt::format("optimizer = {}\n", detail::optimizer(settings, "model.parameters()")) +
           fmt::format("loss_function = {}\n", detail::loss_function(settings)) + scaler(settings) + "\n\n" +
           detail::rate_function(settings) + "\n\nstep = 0\n" + fmt::format("while step < {}:\n", settings.steps) +
           "    for inputs, targets in loader:  # the examples of one optimizer step\n"
           "        for group in optimizer.param_groups:\n" +
           fmt::format("            group[\"lr\"] = {} * rate(step)\n", detail::python(settings.learning_rate)) +
           "        for part, wanted in zip(inputs.split(micro_batch), targets.split(micro_batch)):\n" +
           forward(settings) + step(settings) +
           "        optimizer.zero_grad()\n"
           "        step += 1\n" +
           fmt::format("        if step >= {}:\n            break\n", settings.steps);
  }

private:
  static bool scaled(const Settings& settings) { return settings.precision == "fp16"; }

  static std::string scaler(const Settings& settings) {
    return scaled(settings) ? "scaler = torch.amp.GradScaler(\"cuda\")\n" : "";
  }

  static std::string forward(const Settings& settings) {
    const std::string loss = "loss_function(model(part), wanted) * len(part) / len(inputs)\n";
    std::string text;
    if (!detail::is_mixed(settings))
      text = "            loss = " + loss;
    else
      text = fmt::format("            with torch.autocast(part.device.type, torch.{}):\n                loss = {}",
                         settings.precision == "bf16" ? "bfloat16" : "float16", loss);
    return text + (scaled(settings) ? "            scaler.scale(loss).backward()\n" : "            loss.backward()\n");
  }

  static std::string step(const Settings& settings) {
    std::string text;
    if (settings.clip) {
      if (scaled(settings))
        text += "        scaler.unscale_(optimizer)\n";
      text += fmt::format("        torch.nn.utils.clip_grad_norm_(model.parameters(), {})\n",
                          detail::python(*settings.clip));
    }
    return text + (scaled(settings) ? "        scaler.step(optimizer)\n        scaler.update()\n"
                                    : "        optimizer.step()\n");
  }
};

} // namespace

std::unique_ptr<Snippet> pytorch_snippet();
std::unique_ptr<Snippet> pytorch_snippet() {
  return std::make_unique<PytorchSnippet>();
}

} // namespace batchscope::advice
