#pragma once

#include <QObject>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/series/history.h"
#include "ui/plot/curve.h"
#include "ui/threads/latest_task.h"

namespace batchscope::ui {

/// Reads one series of many runs on a thread of its own. UI thread.
class CurveReader : public QObject {
  Q_OBJECT

public:
  struct Request {
    std::int64_t run = 0;
    std::size_t most = 0;   ///< more points are thinned out to this number; 0: all
    std::int64_t state = 0; ///< whatever changes when the run has grown; the same state is not read again
    bool operator==(const Request&) const = default;
  };

  explicit CurveReader(std::filesystem::path database, QObject* parent = nullptr);
  ~CurveReader() override;

  /// Reads the curves over the axis or, if `over` is not empty, over that series: the points of the steps that have
  /// both, by its value. With values times `factor`; replaces an earlier request. Emits read_so_far() for the ones that
  /// are there, in parts while it takes long; runs without the series have none. Errors leave curves out.
  void read(const std::vector<Request>& runs, const std::string& series, double factor, series::Axis axis,
            const std::string& over = {});

Q_SIGNALS:
  /// All curves of the request so far, by run.
  void read_so_far(const std::map<std::int64_t, std::shared_ptr<const batchscope::ui::PointsCurve>>& curves,
                   bool complete);

private:
  class Cache;

  const std::filesystem::path database_;
  std::shared_ptr<Cache> cache_; ///< used by the reading thread only
  LatestTask task_;
};

} // namespace batchscope::ui
