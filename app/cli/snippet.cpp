#include "core/advice/snippet.h"

#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/store/run_reader.h"

namespace batchscope::cli {

namespace {

struct SnippetOptions {
  CLI::Option* run = nullptr;
  CLI::Option* kind = nullptr;
};

Json settings_json(const advice::Settings& settings) {
  Json json{{"micro_batch", settings.micro_batch},
            {"accumulate", settings.accumulate},
            {"effective_batch", settings.micro_batch * settings.accumulate},
            {"learning_rate", json_number(settings.learning_rate)},
            {"lr_decay", settings.decay},
            {"warmup_steps", settings.warmup_steps},
            {"optimizer", settings.optimizer},
            {"weight_decay", json_number(settings.weight_decay)},
            {"steps", settings.steps}};
  json["epochs"] = settings.epochs ? Json(*settings.epochs) : Json(nullptr);
  return json;
}

int run_snippet(const SnippetOptions& options, const Context& context) {
  require(options.run, "the number of a run");
  const std::string kinds = fmt::format("{}", fmt::join(advice::snippet_names(), ", "));
  require(options.kind, kinds);
  const auto snippet = advice::make_snippet(*text_of(options.kind));
  const std::int64_t run = *integer_of(options.run);
  const store::RunReader reader(context.database());
  const advice::Settings settings = advice::settings_of(advice::read_facts(reader, run));
  const std::string text = snippet->text(settings);
  if (context.json)
    print_json({{"run", run}, {"for", snippet->name()}, {"settings", settings_json(settings)}, {"text", text}});
  else
    print(text);
  return exit_status::done;
}

} // namespace

Verb add_snippet(CLI::App& program) {
  auto* app = program.add_subcommand("snippet", "Print the sizes and settings of a stored run for a Python program");
  auto options = std::make_shared<SnippetOptions>();
  options->run = add_argument(*app, "RUN", "Number of the run");
  options->kind =
      add_value(*app, "--for", "KIND", fmt::format("{} (required)", fmt::join(advice::snippet_names(), ", ")));
  return {app, [options](const Context& context) { return run_snippet(*options, context); }};
}

} // namespace batchscope::cli
