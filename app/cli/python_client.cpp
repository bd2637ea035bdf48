#include <memory>

#include "app/cli/arguments.h"
#include "app/cli/context.h"
#include "app/cli/output.h"
#include "core/base/file_output.h"
#include "core/program/process/client.h"

namespace batchscope::cli {

namespace {

int write_client(const CLI::Option* file, const Context& context) {
  const auto path = text_of(file);
  if (!path) {
    if (context.json)
      print_json({{"source", program::client_source()}});
    else
      print(program::client_source());
    return exit_status::done;
  }
  FileOutput output(*path, false);
  output.stream() << program::client_source();
  output.publish();
  if (context.json)
    print_json({{"file", *path}});
  else
    print(*path + " is written; a training program imports it as batchscope\n");
  return exit_status::done;
}

} // namespace

Verb add_python_client(CLI::App& program) {
  auto* app = program.add_subcommand("python-client", "Write batchscope.py, which training programs import");
  CLI::Option* file = add_value(*app, "-o,--output", "FILE", "File to write (default: standard output)");
  return {app, [file](const Context& context) { return write_client(file, context); }};
}

} // namespace batchscope::cli
