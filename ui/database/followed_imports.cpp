#include "ui/database/followed_imports.h"

#include <QPointer>

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "core/exchange/followed_files.h"
#include "core/store/run_store.h"

namespace batchscope::ui {

struct FollowedImports::Following {
  QStringList paths;
  std::atomic<bool> stopping = false;
  std::thread thread;
};

FollowedImports::FollowedImports(std::filesystem::path database, std::function<void()> stored, QObject* parent)
    : QObject(parent), database_(std::move(database)), stored_(std::move(stored)) {}

FollowedImports::~FollowedImports() {
  for (const auto& following : all_)
    following->stopping = true;
  for (const auto& following : all_)
    following->thread.join();
}

void FollowedImports::follow(const QStringList& paths, const exchange::ImportOptions& options, QObject* context,
                             std::function<void(const exchange::ImportResult&, const QString& error)> begun) {
  Following* following = all_.emplace_back(std::make_unique<Following>()).get();
  following->paths = paths;
  following->thread = std::thread([this, following, options, context = QPointer(context), begun = std::move(begun)] {
    bool has_begun = false;
    const auto tell_once = [&](const exchange::ImportResult& result, const QString& error) {
      if (!std::exchange(has_begun, true))
        results_.post([context, begun, result, error] {
          if (context)
            begun(result, error);
        });
    };
    const exchange::FollowedFiles::Reports reports{
        .stored =
            [&](const exchange::ImportResult& result) {
              if (!result.imported.empty() || !result.extended.empty())
                stored_();
              tell_once(result, {});
            },
        .remark = [](const std::string&) {}, // the dialog has shown them
        .problem =
            [&](const std::string& text) {
              results_.post([this, text = QString::fromStdString(text)] {
                Q_EMIT problem(text.isEmpty() ? text : tr("Not read yet: %1").arg(text));
              });
            }};
    try {
      std::vector<std::filesystem::path> files;
      for (const QString& path : std::as_const(following->paths))
        files.emplace_back(path.toStdString());
      exchange::FollowedFiles followed(files, options);
      const exchange::ImportedRuns first = followed.read_changed();
      store::RunStore store(database_);
      followed.follow(
          first, store, [following] { return following->stopping.load(); }, reports);
    } catch (const std::exception& error) {
      if (has_begun)
        reports.problem(error.what());
      tell_once({}, QString::fromUtf8(error.what()));
    }
    stored_();
    results_.post([this, following] { end(following); });
  });
  Q_EMIT changed();
}

void FollowedImports::stop() {
  for (const auto& following : all_)
    following->stopping = true;
}

void FollowedImports::end(Following* following) {
  following->thread.join(); // which has nothing left to do
  std::erase_if(all_, [following](const auto& each) { return each.get() == following; });
  Q_EMIT changed();
}

QStringList FollowedImports::paths() const {
  QStringList paths;
  for (const auto& following : all_)
    paths += following->paths;
  return paths;
}

} // namespace batchscope::ui

#include "moc_followed_imports.cpp"
