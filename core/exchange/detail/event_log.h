#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/exchange/detail/event_file.h"

namespace batchscope::exchange::detail {

/// Contents of the TensorBoard event files of one folder. Training that starts again from an earlier step writes the
/// steps after it once more: points of those that were written before are dropped, as TensorBoard does.
class EventLog {
public:
  struct Point {
    std::int64_t step = 0;
    double value = 0;
    double wall_time = 0; ///< seconds since 1970
  };

  /// Files are read in the order of their times. A record that is damaged costs itself, and a remark. Throws Error
  /// (input) for a file that has no record.
  void read(const std::filesystem::path& file);

  const std::map<std::string, std::vector<Point>>& scalars() const { return scalars_; } ///< by tag, in order of steps
  /// The settings that the plugin hparams has of a session; an empty object: none.
  const Json& hparams() const { return hparams_; }
  bool has_failed() const { return failed_; }                ///< as the plugin hparams says
  std::optional<double> started() const { return started_; } ///< time of the first event with a value
  const std::vector<std::string>& remarks() const { return remarks_; }
  std::int64_t dropped() const { return dropped_; } ///< points that a restart made void

private:
  void add(const ScalarEvent& event);
  void restart(std::int64_t step);
  void add_hparams(std::string_view plugin_data);
  void add_session(std::string_view session_start_info);

  std::map<std::string, std::vector<Point>> scalars_;
  Json hparams_ = Json::object();
  bool failed_ = false;
  std::optional<double> started_;
  std::vector<std::string> remarks_;
  std::int64_t dropped_ = 0;
};

/// Tag in the run of values from a folder with event files of `SummaryWriter.add_scalars()`, which is below the folder
/// with those of the run. `add_scalars("loss", {"val": ...})` makes the folder `loss_val` with the tag loss, which
/// becomes val/loss; other names follow the tag. Nothing for a folder of another kind. `folder`: relative to the run's.
std::optional<std::string> tag_in_run(const std::filesystem::path& folder, const std::string& tag);

/// The nearest folder above that is one of these; nothing if there is none.
std::optional<std::filesystem::path> folder_above(const std::filesystem::path& folder,
                                                  const std::set<std::filesystem::path>& folders);

} // namespace batchscope::exchange::detail
