#pragma once

#include <QTemporaryDir>
#include <QTest>

#include "ui/workbench/workbench.h"

namespace batchscope::ui::test {

/// A workbench on an empty database in a folder of its own.
class WorkbenchHere {
public:
  std::filesystem::path database() const { return (folder_.path() + "/runs.db").toStdString(); }
  Workbench& operator*() { return bench_; }
  Workbench* operator->() { return &bench_; }

private:
  QTemporaryDir folder_;
  Theme theme_;
  Workbench bench_{theme_, database()};
};

/// A small net on the bundled images: a thousand steps take a second or two.
inline run::RunSpec small_run(std::int64_t steps) {
  run::RunSpec spec;
  spec.model = "mlp:hidden=16";
  spec.data = "demo";
  spec.memory_budget = 100'000'000;
  spec.batch = {run::BatchChoice::Kind::number, 16};
  spec.length = {.epochs = std::nullopt, .examples = std::nullopt, .steps = steps};
  return spec;
}

/// A conv net of which about 47 examples fit into the memory.
inline run::RunSpec tight_run(std::int64_t steps) {
  run::RunSpec spec = small_run(steps);
  spec.model = "cnn";
  spec.memory_budget = 24'000'000;
  return spec;
}

/// A conv net that meets its limit on the way: the schedule asks for more than 24 MB hold.
inline run::RunSpec growing_run() {
  run::RunSpec spec = tight_run(24);
  spec.batch = {run::BatchChoice::Kind::number, 8};
  spec.schedule = "linear:max=64";
  return spec;
}

inline constexpr int patience_ms = 60'000; ///< sanitizers and busy machines are slow

} // namespace batchscope::ui::test
