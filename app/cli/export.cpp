#include "core/exchange/export.h"

#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/run_reader.h"

namespace batchscope::cli {

namespace {

struct ExportOptions {
  CLI::Option* runs = nullptr;
  CLI::Option* format = nullptr;
  CLI::Option* file = nullptr;
  CLI::Option* force = nullptr;
};

/// `csv (CSV, a row per step), ...`.
std::string formats_help() {
  std::string help;
  for (const auto& exporter : exchange::exporters())
    help += fmt::format("{}{} ({})", help.empty() ? "" : "; ", exporter->name(), exporter->title());
  return help;
}

int run_export(const ExportOptions& options, const Context& context) {
  const std::string formats = fmt::format("{}", fmt::join(exchange::export_formats(), ", "));
  require(options.runs, "the numbers of one or more runs");
  require(options.format, formats);
  require(options.file, "the file to write");
  const auto ids = integers_of(options.runs);
  const std::string file = *text_of(options.file);
  const std::string format = *text_of(options.format);
  const auto known = exchange::export_formats();
  if (std::find(known.begin(), known.end(), format) == known.end())
    throw input_error(fmt::format("--format: {} is not accepted; accepted: {}", in_quotes(format), formats));
  if (file.empty())
    throw input_error("-o: \"\" is not accepted; accepted: a file");
  exchange::export_to_file(store::RunReader(context.database()), ids, format, file, options.force->count() > 0);
  if (context.json)
    print_json({{"exported", ids}, {"file", file}, {"format", format}});
  else
    print(fmt::format("{} {} written to {}\n", ids.size(), ids.size() == 1 ? "run" : "runs", file));
  return exit_status::done;
}

} // namespace

Verb add_export(CLI::App& program) {
  auto* app = program.add_subcommand("export", "Write stored runs to a file, or a folder of event files");
  auto options = std::make_shared<ExportOptions>();
  options->runs = add_argument(*app, "RUN", "Numbers of the runs", true);
  options->format = add_value(*app, "--format", "FORMAT", formats_help());
  options->file = add_value(*app, "-o,--output", "FILE", "File to write; a new folder for tensorboard");
  options->force = add_switch(*app, "--force", "Overwrite an existing file (folders are never overwritten)");
  return {app, [options](const Context& context) { return run_export(*options, context); }};
}

} // namespace batchscope::cli
