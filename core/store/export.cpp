#include "core/store/export.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/store/detail/exporters.h"
#include "core/store/detail/file_output.h"

namespace batchscope::store {

std::vector<std::unique_ptr<Exporter>> exporters() {
  std::vector<std::unique_ptr<Exporter>> all;
  all.push_back(detail::csv_exporter());
  all.push_back(detail::json_exporter());
  return all;
}

std::vector<std::string> export_formats() {
  std::vector<std::string> names;
  for (const auto& exporter : exporters())
    names.push_back(exporter->name());
  return names;
}

void export_to_file(const RunReader& reader, const std::vector<std::int64_t>& ids, const std::string& format,
                    const std::filesystem::path& file, bool force, const std::function<bool()>& cancelled) {
  const auto all = exporters();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& exporter) { return exporter->name() == format; });
  if (found == all.end())
    throw input_error(fmt::format("--format: {} is not accepted; accepted: {}", in_quotes(format),
                                  fmt::join(export_formats(), ", ")));
  if (ids.empty())
    throw input_error("export: no runs given; accepted: at least one id");
  for (const std::int64_t id : ids)
    reader.run(id); // throws before anything is created
  detail::FileOutput output(file, force, cancelled);
  (*found)->write(reader, ids, output.stream());
  output.publish();
}

} // namespace batchscope::store
