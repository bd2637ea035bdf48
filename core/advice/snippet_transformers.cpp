#include "core/advice/detail/python.h"

namespace batchscope::advice {

namespace {

class TransformersSnippet final : public Snippet {
public:
  std::string name() const override { return "transformers"; }
  std::string title() const override { return "Hugging Face Trainer"; }

  std::string text(const Settings& settings) const override {
    return detail::comments(settings, detail::trainer_remarks(settings)) +
           "from transformers import TrainingArguments\n\n" +
           detail::call("training_args", "TrainingArguments", detail::training_arguments(settings));
  }
};

} // namespace

std::unique_ptr<Snippet> transformers_snippet();
std::unique_ptr<Snippet> transformers_snippet() {
  return std::make_unique<TransformersSnippet>();
}

} // namespace batchscope::advice
