#include <fmt/format.h>

#include "core/advice/detail/python.h"

namespace batchscope::advice {

namespace {

class AccelerateSnippet final : public Snippet {
public:
  std::string name() const override { return "accelerate"; }
  std::string title() const override { return "Hugging Face Accelerate"; }

  std::string text(const Settings& settings) const override {
    const std::string mixed = detail::is_mixed(settings) ? settings.precision : "no";
    return detail::comments(settings, {"Put your own model and dataset in place of `model` and `dataset`."}) +
           detail::rate_imports(settings) +
           "import torch\nfrom accelerate import Accelerator\nfrom accelerate.utils import "
           "set_seed\n\n" +
           fmt::format("set_seed({})\n", settings.seed) + detail::float_setting(settings) +
           detail::call("accelerator", "Accelerator",
                        {{"gradient_accumulation_steps", std::to_string(settings.accumulate)},
                         {"mixed_precision", fmt::format("\"{}\"", mixed)}}) +
           fmt::format("loader = torch.utils.data.DataLoader(dataset, batch_size={}, shuffle=True, drop_last={})\n",
                       settings.micro_batch, detail::python(settings.drop_last)) +
           fmt::format("optimizer = {}\n", detail::optimizer(settings, "model.parameters()")) +
           fmt::format("loss_function = {}\n\n\n", detail::loss_function(settings)) + detail::rate_function(settings) +
           "\n\nmodel, optimizer, loader = accelerator.prepare(model, optimizer, loader)\n"
           "step = 0\n" +
           fmt::format("while step < {}:\n", settings.steps) +
           "    for inputs, targets in loader:\n"
           "        with accelerator.accumulate(model):\n"
           "            for group in optimizer.param_groups:\n" +
           fmt::format("                group[\"lr\"] = {} * rate(step)\n", detail::python(settings.learning_rate)) +
           "            accelerator.backward(loss_function(model(inputs), targets))\n" + clip(settings) +
           "            optimizer.step()\n"
           "            optimizer.zero_grad()\n"
           "        step += accelerator.sync_gradients\n" +
           fmt::format("        if step >= {}:\n            break\n", settings.steps);
  }

private:
  static std::string clip(const Settings& settings) {
    if (!settings.clip)
      return {};
    return fmt::format("            if accelerator.sync_gradients:\n"
                       "                accelerator.clip_grad_norm_(model.parameters(), {})\n",
                       detail::python(*settings.clip));
  }
};

} // namespace

std::unique_ptr<Snippet> accelerate_snippet();
std::unique_ptr<Snippet> accelerate_snippet() {
  return std::make_unique<AccelerateSnippet>();
}

} // namespace batchscope::advice
