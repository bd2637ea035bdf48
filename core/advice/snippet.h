#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/advice/run_facts.h"

namespace batchscope::advice {

/// The settings of a run for a training program with one batch size. A plain value.
struct Settings {
  std::string heading;              ///< which run they are from, one line
  std::vector<std::string> remarks; ///< what the other program does differently, one line each
  std::int64_t micro_batch = 1;     ///< examples per device in one forward and backward pass
  std::int64_t accumulate = 1;
  double learning_rate = 0.001;   ///< at micro_batch x accumulate
  std::string decay = "constant"; ///< constant, cosine, linear or step
  std::int64_t warmup_steps = 0;
  std::string optimizer = "adamw"; ///< sgd, adam, adamw or rmsprop
  double momentum = 0;             ///< sgd
  double weight_decay = 0;
  bool predicts_numbers = false; ///< with the mean squared error, else classes with cross entropy
  double label_smoothing = 0;
  std::optional<double> clip;         ///< largest gradient norm
  std::optional<std::int64_t> epochs; ///< length: epochs, or else steps
  std::int64_t steps = 0;             ///< optimizer steps of the training
  std::int64_t seed = 1;
  bool drop_last = false;
  std::string precision = "fp32"; ///< fp32, tf32, bf16 or fp16
  bool checkpointing = false;
};

/// The settings of a stored run. The micro batch is the largest that was run without running out of memory; its
/// product with the accumulation is the run's first effective batch, rounded up to equal micro batches. Throws Error
/// (input) for a run of another program whose batch or learning rate is not known.
Settings settings_of(const RunFacts& run);

/// A kind of Python program to write the settings for. A new one is a file with a class and its name_snippet(), and a
/// line in snippets.def.
class Snippet {
public:
  virtual ~Snippet() = default;
  virtual std::string name() const = 0;  ///< value of --for
  virtual std::string title() const = 0; ///< for menus: `Hugging Face Trainer`
  /// Python, ending with a newline.
  virtual std::string text(const Settings& settings) const = 0;
};

/// All kinds.
std::vector<std::unique_ptr<Snippet>> snippets();
std::vector<std::string> snippet_names();
/// Throws Error (input) for an unknown kind.
std::unique_ptr<Snippet> make_snippet(const std::string& name);

} // namespace batchscope::advice
