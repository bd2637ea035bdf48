#pragma once

#include <algorithm>
#include <csignal>
#include <map>
#include <string>

#include <QFile>

#include "tests/app/cli/cli_program.h"
#include "tests/app/cli/stored_rows.h"

namespace batchscope::test {

/// Runs of some tenths of a second, one for each seed.
inline QStringList tiny_sweep(int runs) {
  return {"sweep",           "--json",
          "--model",         "mlp:hidden=8",
          "--data",          "synthetic:examples=400,shape=1x8x8,classes=2",
          "--batch",         "4",
          "--epochs",        "4",
          "--memory-budget", "50MB",
          "--vary",          QString("seed=1..%1 +1").arg(runs)};
}

/// Whether the process has ended and its parent has not asked for its status yet.
inline bool is_zombie(qint64 process) {
  QFile file(QString("/proc/%1/stat").arg(process));
  return !file.open(QIODevice::ReadOnly) || file.readAll().contains(") Z ");
}

inline QList<qint64> children_of(qint64 process) {
  QFile file(QString("/proc/%1/task/%1/children").arg(process));
  QList<qint64> children;
  if (file.open(QIODevice::ReadOnly))
    for (const QByteArray& child : file.readAll().split(' '))
      if (child.toLongLong() > 0 && !is_zombie(child.toLongLong()))
        children += child.toLongLong();
  return children;
}

inline std::size_t count_of(const std::vector<store::RunRow>& rows, telemetry::RunStatus status) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [&](const auto& row) { return row.outcome.status == status; }));
}

/// Why not exactly `runs` combinations have finished, each once, and all other attempts are marked; empty if so.
inline QByteArray not_each_once(const std::vector<store::RunRow>& rows, int runs) {
  std::map<std::string, int> finished;
  for (const store::RunRow& row : rows) {
    if (row.outcome.status == telemetry::RunStatus::finished)
      ++finished[row.name];
    else if (row.outcome.status != telemetry::RunStatus::interrupted)
      return "run " + QByteArray::number(qint64(row.id)) + " is " +
             QByteArray::fromStdString(telemetry::to_string(row.outcome.status));
  }
  for (const auto& [name, times] : finished)
    if (times != 1)
      return QByteArray::fromStdString(name) + " finished " + QByteArray::number(times) + " times";
  return finished.size() == static_cast<std::size_t>(runs)
             ? QByteArray()
             : QByteArray::number(qint64(finished.size())) + " combinations have finished";
}

} // namespace batchscope::test
