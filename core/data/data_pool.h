#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/data/dataset.h"

namespace batchscope::data {

/// Data sets in use, each of them read once for all who ask for it. The pool holds none of them: a data set is freed
/// with its last user. It is read anew where one of its files has changed since: another size, time of modification or
/// file of that name. Any thread; who asks for a data set that is being read waits for it.
class DataPool {
public:
  DataPool();
  ~DataPool();
  DataPool(const DataPool&) = delete;
  DataPool& operator=(const DataPool&) = delete;

  /// As open_data() does.
  DataSplit open(const std::string& text, const DataOptions& options = {});
  /// How many examples of it train. Remembered without the data, so that these are read once only.
  std::int64_t train_examples(const std::string& text, const DataOptions& options = {});

  std::uint64_t reads() const; ///< data sets that were read so far
  std::size_t in_use() const;  ///< that somebody holds

private:
  struct Entry;

  std::shared_ptr<Entry> entry(const std::string& text, const DataOptions& options);
  DataSplit open(Entry& entry, const std::string& text, const DataOptions& options);

  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>> entries_; ///< guarded by mutex_
};

} // namespace batchscope::data
