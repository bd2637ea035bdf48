#include "ui/findings/adviser.h"

#include "core/base/error.h"
#include "core/store/run_reader.h"

namespace batchscope::ui {

Adviser::Adviser(std::filesystem::path database, QObject* parent) : QObject(parent), database_(std::move(database)) {}

void Adviser::judge(std::vector<std::int64_t> runs) {
  task_.start([this, runs = std::move(runs)](const LatestTask::Progress& progress) {
    std::vector<advice::RunFindings> findings;
    try {
      if (!runs.empty())
        findings = advice::judge_all(store::RunReader(database_), runs, [&] { return progress.replaced(); });
    } catch (const Error&) {
      // A database that cannot be read is reported by the one who lists its runs.
    }
    progress.post([this, findings = std::move(findings)] { Q_EMIT judged(findings); });
  });
}

} // namespace batchscope::ui

#include "moc_adviser.cpp"
