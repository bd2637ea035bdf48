#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/data/dataset.h"
#include "core/data/sampler.h"

namespace batchscope::data {

/// Says which examples a step takes: by the order of the epoch, or of each stream's own epochs. With several streams,
/// the examples of a step are interleaved as evenly as their counts allow, so that its micro batches are mixed alike.
///
/// Grouped by length, an epoch's order is cut into blocks (of 2,048 examples; of an eighth of the epoch if that is
/// less), and each is sorted by length, rising in one and falling in the next. Examples that follow each other are then
/// about as long, so there is little padding whatever the batch; every example still comes once in an epoch, in an
/// order that depends on the seed and not on batch sizes.
///
/// One thread.
class StepOrder {
public:
  /// The data outlive this object.
  StepOrder(const Dataset& data, std::uint64_t seed, bool group_by_length = false);

  /// Indices of the step's examples, in the order in which its micro batches and ranks take them.
  void examples_of(const StepTakes& takes, std::vector<std::int64_t>& indices);

private:
  /// The order of one source, epoch after epoch.
  class SourceOrder {
  public:
    SourceOrder(const Dataset& data, std::int64_t first, std::int64_t examples, std::uint64_t seed, bool grouped);
    /// Index in the data of the example at a position of an epoch, which may be beyond its end: in the next ones.
    std::int64_t at(std::int64_t epoch, std::int64_t position);

  private:
    void sort_block(std::int64_t block);

    const Dataset* data_;
    std::int64_t first_;
    std::int64_t examples_;
    std::uint64_t seed_;
    std::int64_t block_size_; ///< 0: not grouped
    std::int64_t epoch_ = -1; ///< of order_ and block_
    std::optional<EpochOrder> order_;
    std::int64_t block_number_ = -1;
    std::vector<std::int64_t> block_; ///< its examples by length
  };

  std::vector<SourceOrder> sources_;
};

} // namespace batchscope::data
