#include "core/exchange/export.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/file_output.h"
#include "core/base/text.h"
#include "core/store/run_reader.h"

namespace batchscope::exchange {

#define EXPORTER(name) std::unique_ptr<Exporter> name##_exporter();
#include "core/exchange/exporters.def"
#undef EXPORTER

std::vector<std::unique_ptr<Exporter>> exporters() {
  std::vector<std::unique_ptr<Exporter>> all;
#define EXPORTER(name) all.push_back(name##_exporter());
#include "core/exchange/exporters.def"
#undef EXPORTER
  return all;
}

std::vector<std::string> export_formats() {
  std::vector<std::string> names;
  for (const auto& exporter : exporters())
    names.push_back(exporter->name());
  return names;
}

std::unique_ptr<Exporter> make_exporter(const std::string& format) {
  for (auto& exporter : exporters())
    if (exporter->name() == format)
      return std::move(exporter);
  throw input_error(
      fmt::format("--format: {} is not accepted; accepted: {}", in_quotes(format), fmt::join(export_formats(), ", ")));
}

void export_to_file(const store::RunReader& reader, const std::vector<std::int64_t>& ids, const std::string& format,
                    const std::filesystem::path& file, bool force, const std::function<bool()>& cancelled) {
  const auto exporter = make_exporter(format);
  if (ids.empty())
    throw input_error("export: no runs given; accepted: at least one id");
  for (const std::int64_t id : ids)
    reader.run(id); // throws before anything is created
  if (exporter->extension().empty()) {
    FolderOutput output(file);
    exporter->write_folder(reader, ids, output.path());
    output.publish();
    return;
  }
  FileOutput output(file, force, cancelled);
  exporter->write(reader, ids, output.stream());
  output.publish();
}

} // namespace batchscope::exchange
