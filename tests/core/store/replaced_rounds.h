#pragma once

#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include "core/store/run_follower.h"
#include "core/store/run_reader.h"
#include "other_program.h"

namespace batchscope::store::test {

/// One database for a while, used as a window does (runs are written, listed and followed), while other programs write
/// and are killed, something opens and closes its files, and its log is removed; all drawn from `seed`. Returns what
/// was lost of that which was reported as stored, and what the database's check finds.
class RandomRound {
public:
  explicit RandomRound(unsigned seed) : random_(seed) {}

  std::string run() {
    for (int action = 0; action < 25; ++action)
      act();
    finish_run();
    others_.clear();
    store_.reset();
    reader_.reset();
    auto all = reported(report_);
    all.insert(stored_.begin(), stored_.end());
    return lost(file_, all);
  }

private:
  void act() {
    switch (random_() % 10) {
    case 0:
    case 1:
      return open_and_close_files();
    case 2:
      return others_.push_back(std::make_unique<SecondProcess>(write_arguments(
          file_, 1 + static_cast<int>(random_() % 3), 50 + static_cast<int>(random_() % 200), report_)));
    case 3:
      if (!others_.empty())
        others_.back()->kill();
      return;
    case 4:
      others_.clear(); // waits for them
      return;
    case 5:
      return remove_log();
    case 6:
      finish_run();
      if (random_() % 3 == 0)
        store_.reset();
      return;
    case 7:
      if (std::filesystem::exists(file_))
        list_elsewhere(file_);
      return;
    default:
      return write_some();
    }
  }

  void open_and_close_files() {
    for (const auto& file : {file_, log_of(file_), index_of(file_)})
      open_and_close(file);
  }

  // Only while this process has the files open and no other writes: what a program that is killed at that moment has
  // written to a file without a name is nobody's. In the order of `rm runs.db-*`. Two removals within one look at the
  // files, with another program's runs between them, cannot be survived: nobody has those runs.
  void remove_log() {
    others_.clear();
    if (!run_)
      return;
    std::filesystem::remove(index_of(file_));
    std::filesystem::remove(log_of(file_));
    store_->flush();
    RunReader(file_).list();
  }

  void write_some() {
    if (!store_)
      store_ = std::make_unique<RunStore>(file_, StoreOptions{.interval = std::chrono::milliseconds(2)});
    if (!run_) {
      run_ = store_->begin(new_run("ours"));
      steps_ = 0;
    }
    for (const std::int64_t end = steps_ + 1 + static_cast<std::int64_t>(random_() % 2000); steps_ < end;)
      run_->sink().record(record_at(++steps_));
    if (random_() % 2 == 0) {
      store_->flush();
      note_stored();
    }
    if (!reader_)
      reader_ = std::make_unique<RunReader>(file_);
    reader_->list();
    RunFollower follower(file_, run_->id());
    while (follower.poll().more) {
    }
  }

  void finish_run() {
    if (!run_)
      return;
    run_->finish(outcome(telemetry::RunStatus::finished));
    note_stored();
    run_.reset();
  }

  void note_stored() { stored_[RunReader(file_).run(run_->id()).uid] = steps_; }

  std::mt19937 random_;
  const Folder folder_;
  const std::filesystem::path file_ = folder_.file();
  const std::filesystem::path report_ = folder_.file("report");
  std::unique_ptr<RunStore> store_;
  std::unique_ptr<RunReader> reader_;
  std::unique_ptr<RunWriter> run_;
  std::int64_t steps_ = 0;
  std::map<std::string, std::int64_t> stored_; ///< by this process, by uid
  std::vector<std::unique_ptr<SecondProcess>> others_;
};

inline std::string random_round(unsigned seed) {
  return RandomRound(seed).run();
}

} // namespace batchscope::store::test
