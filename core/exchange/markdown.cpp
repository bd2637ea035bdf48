#include <ostream>

#include "core/compare/cells.h"
#include "core/exchange/export.h"
#include "core/store/run_reader.h"

namespace batchscope::exchange {

namespace {

class MarkdownExporter final : public Exporter {
public:
  std::string name() const override { return "markdown"; }
  std::string title() const override { return "Markdown, the comparison"; }
  std::string extension() const override { return "md"; }

  void write(const store::RunReader& reader, const std::vector<std::int64_t>& ids, std::ostream& out) const override {
    const compare::Comparison comparison(compare::read_runs(reader, ids));
    out << compare::markdown(compare::cells_of(comparison, std::nullopt, false), compare::answer(comparison, {}));
  }
};

} // namespace

std::unique_ptr<Exporter> markdown_exporter();
/// Exporter of the text of `compare --markdown`: which settings have the best validation score, and the table.
std::unique_ptr<Exporter> markdown_exporter() {
  return std::make_unique<MarkdownExporter>();
}

} // namespace batchscope::exchange
