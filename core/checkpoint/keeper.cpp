#include "core/checkpoint/keeper.h"

#include <chrono>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/checkpoint/folder.h"

namespace batchscope::checkpoint {

namespace {

namespace fs = std::filesystem;

std::optional<double> score_of(const fs::path& file) {
  try {
    const Label label = read_label(file);
    return score(label.validation_loss, label.validation_accuracy);
  } catch (const Error&) {
    return std::nullopt; // damaged: never the best
  }
}

void make_folder(const fs::path& folder) {
  std::error_code problem;
  fs::create_directories(folder, problem);
  if (problem)
    throw Error(Error::Kind::failed, fmt::format("{}: cannot be made: {}", folder.string(), problem.message()));
}

} // namespace

Keeper::Keeper(fs::path folder, std::function<void()> before_writing)
    : folder_(std::move(folder)), before_writing_(std::move(before_writing)), thread_([this] { work(); }) {}

Keeper::~Keeper() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool Keeper::full() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size() >= most_waiting;
}

void Keeper::keep(Checkpoint checkpoint) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(checkpoint));
  }
  changed_.notify_all();
}

std::vector<Keeper::Report> Keeper::take_reports() {
  const std::lock_guard lock(mutex_);
  return std::exchange(reports_, {});
}

void Keeper::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty(); });
}

void Keeper::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
    if (waiting_.empty())
      return;
    const Checkpoint& first = waiting_.front(); // keep() adds behind it, which does not move it
    lock.unlock();
    Report report = write_one(first);
    lock.lock();
    waiting_.pop_front();
    reports_.push_back(std::move(report));
    changed_.notify_all();
  }
}

Keeper::Report Keeper::write_one(const Checkpoint& checkpoint) {
  Report report{.step = checkpoint.label.step};
  const auto started = std::chrono::steady_clock::now();
  try {
    if (before_writing_)
      before_writing_();
    make_folder(folder_);
    if (!std::exchange(prepared_, true))
      remove_unfinished(folder_);
    report.bytes = write(file_of_step(folder_, report.step), checkpoint);
    remove_superseded();
  } catch (const std::exception& error) {
    report.problem = error.what();
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return report;
}

void Keeper::remove_superseded() {
  std::vector<File> files = files_in(folder_);
  std::optional<std::size_t> best;
  std::optional<double> best_score;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto its = score_of(files[i].path);
    if (!its || (best_score && *its <= *best_score)) // of equal ones the newest
      continue;
    best = i;
    best_score = its;
  }
  for (std::size_t i = newest; i < files.size(); ++i) {
    std::error_code ignored;
    if (i != best)
      fs::remove(files[i].path, ignored);
  }
}

} // namespace batchscope::checkpoint
