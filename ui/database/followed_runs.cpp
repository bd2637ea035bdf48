#include "ui/database/followed_runs.h"

#include <QCoreApplication>

#include "core/base/error.h"

namespace batchscope::ui {

namespace {

constexpr std::size_t records_a_batch = 4096; // a few ms of the UI thread's time

} // namespace

void FollowedRuns::add(std::int64_t run, std::weak_ptr<Follower> follower) {
  followed_.push_back({run, std::move(follower)});
}

bool FollowedRuns::read_on() {
  std::erase_if(followed_, [](const Followed& followed) { return followed.follower.expired(); });
  bool more = false;
  for (auto& followed : followed_)
    more = read_on(followed) || more;
  return more;
}

bool FollowedRuns::read_on(Followed& followed) {
  if (*followed.busy)
    return true;
  RunBatch batch;
  bool more = false;
  bool over = false;
  try {
    begin_reading(followed);
    auto update = followed.reader->poll(records_a_batch);
    batch.records = std::move(update.records);
    batch.events = std::move(update.events);
    batch.row = std::move(update.row);
    batch.complete = !update.more;
    more = update.more;
    over = batch.complete && batch.row.outcome.status != telemetry::RunStatus::running;
  } catch (const std::exception& error) {
    batch.error = QString::fromUtf8(error.what());
    over = true;
  }
  *followed.busy = true;
  auto shared = std::make_shared<RunBatch>(std::move(batch));
  post_([weak = followed.follower, busy = followed.busy, shared] {
    // Without the token nobody wants it any more.
    if (const auto wanted = weak.lock())
      wanted->take(std::move(*shared));
    *busy = false;
  });
  if (over)
    followed.follower.reset();
  return more;
}

void FollowedRuns::begin_reading(Followed& followed) const {
  const FileIdentity now = file_identity(file_);
  if (!followed.reader) {
    followed.reader = std::make_unique<store::RunFollower>(file_, followed.run);
    followed.file = now;
  } else if (now != followed.file && now != FileIdentity{}) {
    // The open file has no name any more, and nobody writes to it.
    throw Error(
        Error::Kind::input,
        QCoreApplication::translate("batchscope::ui::RunDatabase",
                                    "%1 was replaced by another file while the run was being read; open the run again")
            .arg(QString::fromStdString(file_.string()))
            .toStdString());
  }
}

} // namespace batchscope::ui
