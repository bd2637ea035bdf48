#include "core/advice/detail/python.h"

namespace batchscope::advice {

namespace {

/// Unsloth trains with TRL's SFTTrainer.
class UnslothSnippet final : public Snippet {
public:
  std::string name() const override { return "unsloth"; }
  std::string title() const override { return "Unsloth and TRL"; }

  std::string text(const Settings& settings) const override {
    std::vector<std::string> remarks = detail::trainer_remarks(settings);
    remarks.emplace_back("Import unsloth before trl. Its own activation checkpointing is set on the model: "
                         "FastLanguageModel.get_peft_model(..., use_gradient_checkpointing=\"unsloth\").");
    return detail::comments(settings, remarks) + "from trl import SFTConfig\n\n" +
           detail::call("training_args", "SFTConfig", detail::training_arguments(settings));
  }
};

} // namespace

std::unique_ptr<Snippet> unsloth_snippet();
std::unique_ptr<Snippet> unsloth_snippet() {
  return std::make_unique<UnslothSnippet>();
}

} // namespace batchscope::advice
