#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/exchange/import.h"

namespace batchscope::exchange::detail {

class ImportedRun;

/// The metric that counts the steps of another one (`define_metric(..., step_metric=)`). One thread.
class StepMetrics {
public:
  void define(std::string_view message); ///< a MetricRecord
  bool empty() const { return all_.empty(); }
  bool is_one(const std::string& name) const { return all_.contains(name); }
  /// Empty: the steps of W&B. Of several patterns the longest one counts.
  std::string of(const std::string& name) const;

private:
  std::map<std::string, std::string> by_name_;
  std::map<std::string, std::string> by_beginning_;
  std::set<std::string> all_;
};

/// Contents of a run's log besides its points.
struct WandbFacts {
  std::string name, note, project, group, job_type, sweep;
  std::set<std::string> tags;
  std::map<std::string, Json> config;
  std::map<std::string, Json> summary;
  std::optional<double> started;
  std::optional<std::int64_t> exit_code;
  std::optional<double> runtime; ///< in seconds
  std::string output;            ///< the last that was printed
};

/// Takes the records of a run's logs (`wandb_internal.Record`, wandb/proto/wandb_internal.proto), in their order: what
/// they say of steps goes to the run. One thread.
class WandbRecords {
public:
  static constexpr std::size_t most_output = 16 << 10; ///< bytes of what was printed last that are kept

  WandbRecords(ImportedRun& run, const ImportOptions& options) : run_(run), options_(options) {}

  void take(std::string_view record);

  const WandbFacts& facts() const { return facts_; }
  const StepMetrics& step_metrics() const { return step_metrics_; }
  std::int64_t last_step() const { return last_step_; } ///< W&B's own; -1: no row

private:
  void take_field(int number, std::string_view message);
  void take_row(std::string_view message);
  std::int64_t step_at(const std::string& key) const;
  void take_stats(std::string_view message);
  void take_output(std::string_view message);
  void take_run(std::string_view message);
  void take_exit(std::string_view message);

  ImportedRun& run_;
  const ImportOptions& options_;
  WandbFacts facts_;
  StepMetrics step_metrics_;
  std::map<std::string, double> counted_; ///< the last value of each step metric
  std::int64_t last_step_ = -1;
};

} // namespace batchscope::exchange::detail
