#include "core/data/data_pool.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include <sys/stat.h>

#include "core/data/augmentation.h"

namespace batchscope::data {

namespace {

/// Identifies a state of a file; all 0 if it does not exist.
using FileState = std::tuple<dev_t, ino_t, off_t, time_t, long>;

FileState state_of(const std::string& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0)
    return {};
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

std::vector<FileState> states_of(const std::string& text) {
  std::vector<FileState> states;
  for (const std::string& file : data_files(text))
    states.push_back(state_of(file));
  return states;
}

} // namespace

struct DataPool::Entry {
  std::mutex mutex; ///< held while the data are read
  // Guarded by mutex.
  std::vector<FileState> files; ///< states before the data were read
  std::weak_ptr<const Dataset> train;
  std::weak_ptr<const Dataset> validation;
  bool validates = false;
  std::optional<ExampleCounts> counts;
  std::uint64_t reads = 0;

  /// Nothing if a part of it has been freed.
  std::optional<DataSplit> held() const {
    DataSplit split{train.lock(), validation.lock()};
    if (!split.train || (validates && !split.validation))
      return std::nullopt;
    return split;
  }
};

DataPool::DataPool() = default;
DataPool::~DataPool() = default;

std::shared_ptr<DataPool::Entry> DataPool::entry(const std::string& text, const DataOptions& options) {
  const std::lock_guard lock(mutex_);
  auto& entry = entries_[text + '\n' + std::to_string(options.context)];
  if (!entry)
    entry = std::make_shared<Entry>();
  return entry;
}

/// The caller holds the entry's lock.
DataSplit DataPool::open(Entry& entry, const std::string& text, const DataOptions& options) {
  // The states are taken before reading, so that a change during the read is noticed by the next caller.
  auto files = states_of(text);
  if (files == entry.files)
    if (const auto held = entry.held())
      return *held;
  entry.counts.reset();
  DataSplit split = open_data(text, options);
  entry.files = std::move(files);
  entry.train = split.train;
  entry.validation = split.validation;
  entry.validates = split.validation != nullptr;
  entry.counts = count_examples(*split.train);
  ++entry.reads;
  return split;
}

DataSplit DataPool::open(const std::string& text, const DataOptions& options) {
  const DataOptions shared{.context = options.context}; // augmentation needs no copy of the data
  const auto entry = this->entry(text, shared);
  const std::lock_guard lock(entry->mutex);
  return augmented(open(*entry, text, shared), options.augment);
}

std::int64_t DataPool::train_examples(const std::string& text, const DataOptions& options) {
  return count(text, options).total;
}

ExampleCounts DataPool::count(const std::string& text, const DataOptions& options) {
  const auto entry = this->entry(text, options);
  const std::lock_guard lock(entry->mutex);
  if (entry->counts && states_of(text) == entry->files)
    return *entry->counts;
  return count_examples(*open(*entry, text, {.context = options.context}).train);
}

std::uint64_t DataPool::reads() const {
  const std::lock_guard lock(mutex_);
  std::uint64_t reads = 0;
  for (const auto& [text, entry] : entries_) {
    const std::lock_guard entry_lock(entry->mutex);
    reads += entry->reads;
  }
  return reads;
}

std::size_t DataPool::in_use() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::count_if(entries_.begin(), entries_.end(), [](const auto& known) {
    const std::lock_guard entry_lock(known.second->mutex);
    return known.second->held().has_value();
  }));
}

} // namespace batchscope::data
