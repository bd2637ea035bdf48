#include "core/exchange/follow.h"

#include <map>
#include <utility>

#include "core/exchange/detail/file_state.h"
#include "core/exchange/import.h"
#include "core/store/run_store.h"

namespace batchscope::exchange {

namespace {

/// Follows a format whose files are written as a whole: reads them anew when they have changed.
class WholeFileFollower final : public SeriesFollower {
public:
  WholeFileFollower(const Importer& importer, std::filesystem::path path)
      : importer_(importer), path_(std::move(path)) {}

  bool poll(const AddedPointSink& take, bool ended) override {
    std::string state = detail::state_of(path_); // before reading: what is written meanwhile is read the next time
    if ((state == state_ && !ended) || !importer_.accepts(path_))
      return false;
    const ImportedRuns read = importer_.read(path_, {.names = {}, .partial = true, .running = true});
    for (const store::CompleteRun& run : read.runs)
      for (const auto& [name, points] : run.series) {
        std::size_t& taken = taken_[run.uid][name];
        if (points.size() < taken)
          taken = 0; // begun anew
        for (; taken < points.size(); ++taken)
          take({name, points[taken].step, points[taken].value});
      }
    state_ = std::move(state);
    return false;
  }

  Json position() const override { return taken_; }
  void resume(const Json& position) override {
    taken_.clear();
    for (const auto& [uid, series] : position.items())
      for (const auto& [name, count] : series.items())
        if (count.is_number_unsigned())
          taken_[uid][name] = count.get<std::size_t>();
  }

private:
  const Importer& importer_;
  const std::filesystem::path path_;
  std::string state_;                                               ///< of the file when it was read
  std::map<std::string, std::map<std::string, std::size_t>> taken_; ///< points of each series by the run's uid
};

} // namespace

std::unique_ptr<SeriesFollower> Importer::follow(const std::filesystem::path& path) const {
  return std::make_unique<WholeFileFollower>(*this, path);
}

} // namespace batchscope::exchange
