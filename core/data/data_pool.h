#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/data/dataset.h"

namespace batchscope::data {

/// Reads each data set once and shares it among all callers. The pool does not keep data sets alive: each is freed with
/// its last user. A data set is read again if one of its files has changed: another size, modification time or file of
/// that name. Any thread; a caller that asks for a data set that is being read waits for it.
class DataPool {
public:
  DataPool();
  ~DataPool();
  DataPool(const DataPool&) = delete;
  DataPool& operator=(const DataPool&) = delete;

  /// See open_data().
  DataSplit open(const std::string& text, const DataOptions& options = {});
  /// The number of its training examples. Remembered without the data, so the data are read only once.
  std::int64_t train_examples(const std::string& text, const DataOptions& options = {});
  /// The same, and those of each stream.
  ExampleCounts count(const std::string& text, const DataOptions& options = {});

  std::uint64_t reads() const; ///< data sets read so far
  std::size_t in_use() const;  ///< data sets that a caller holds

private:
  struct Entry;

  std::shared_ptr<Entry> entry(const std::string& text, const DataOptions& options);
  DataSplit open(Entry& entry, const std::string& text, const DataOptions& options);

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_; ///< guarded by mutex_
};

} // namespace batchscope::data
