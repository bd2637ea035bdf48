#include <fmt/format.h>

#include "core/advice/detail/python.h"

namespace batchscope::advice {

namespace {

class LightningSnippet final : public Snippet {
public:
  std::string name() const override { return "lightning"; }
  std::string title() const override { return "PyTorch Lightning"; }

  std::string text(const Settings& settings) const override {
    const std::string precision = settings.precision == "bf16"   ? "bf16-mixed"
                                  : settings.precision == "fp16" ? "16-mixed"
                                                                 : "32-true";
    detail::Arguments arguments{{"accumulate_grad_batches", std::to_string(settings.accumulate)},
                                {"precision", fmt::format("\"{}\"", precision)}};
    if (settings.epochs)
      arguments.emplace_back("max_epochs", std::to_string(*settings.epochs));
    else
      arguments.emplace_back("max_steps", std::to_string(settings.steps));
    if (settings.clip)
      arguments.emplace_back("gradient_clip_val", detail::python(*settings.clip));
    return detail::comments(settings, {"Put configure_optimizers into your LightningModule, and the batch size into "
                                       "your DataLoader.",
                                       "The loss of its training_step is " + detail::loss_function(settings) + "."}) +
           detail::rate_imports(settings) + "import lightning\nimport torch\n\n" +
           fmt::format("lightning.seed_everything({})\nbatch_size = {}\n", settings.seed, settings.micro_batch) +
           detail::float_setting(settings) + detail::call("trainer", "lightning.Trainer", arguments) + "\n\n" +
           detail::rate_function(settings) + "\n\ndef configure_optimizers(self):\n" +
           fmt::format("    optimizer = {}\n", detail::optimizer(settings, "self.parameters()")) +
           "    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)\n"
           "    return {\"optimizer\": optimizer, \"lr_scheduler\": {\"scheduler\": scheduler, \"interval\": "
           "\"step\"}}\n";
  }
};

} // namespace

std::unique_ptr<Snippet> lightning_snippet();
std::unique_ptr<Snippet> lightning_snippet() {
  return std::make_unique<LightningSnippet>();
}

} // namespace batchscope::advice
