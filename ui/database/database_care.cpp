#include "ui/database/database_care.h"

#include "core/base/error.h"
#include "core/store/care/care.h"
#include "core/store/run_store.h"

namespace batchscope::ui {

DatabaseCare::DatabaseCare(std::filesystem::path database, QObject* parent)
    : QObject(parent), database_(std::move(database)) {}

void DatabaseCare::back_up(const QString& target, Done done) {
  start(
      [database = database_, target] {
        store::back_up(database, target.toStdString(), true);
        return tr("Backed up to %1.").arg(target);
      },
      std::move(done));
}

void DatabaseCare::merge(const QString& other, Done done) {
  start(
      [database = database_, other] {
        const store::MergeReport report = store::merge(database, other.toStdString());
        return tr("Merged %1; runs added: %2, completed: %3, already here: %4.")
            .arg(other)
            .arg(report.added.size())
            .arg(report.completed.size())
            .arg(report.known);
      },
      std::move(done));
}

void DatabaseCare::repair_copy(const QString& target, Done done) {
  start(
      [database = database_, target] {
        const store::RepairReport report = store::repair_copy(database, target.toStdString());
        const QString saved = report.runs == 1 ? tr("1 run saved in %1").arg(target)
                                               : tr("%1 runs saved in %2").arg(report.runs).arg(target);
        return report.lost.empty()
                   ? tr("%1; nothing was lost.").arg(saved)
                   : tr("%1; lost: %2%3.")
                         .arg(saved, QString::fromStdString(report.lost.front()),
                              report.lost.size() > 1 ? tr(" and %1 more").arg(report.lost.size() - 1) : QString());
      },
      std::move(done));
}

void DatabaseCare::check(const QString& file, Done done) {
  start(
      [file] {
        store::check_usable(file.toStdString());
        return QString();
      },
      std::move(done));
}

void DatabaseCare::start(std::function<QString()> work, Done done) {
  ++working_;
  thread_.post([this, work = std::move(work), done = std::move(done)] {
    QString said, problem;
    try {
      said = work();
    } catch (const std::exception& error) {
      problem = QString::fromUtf8(error.what());
    }
    results_.post([this, done, said, problem] {
      --working_;
      done(said, problem);
      if (idle())
        Q_EMIT idle_now();
    });
  });
}

} // namespace batchscope::ui

#include "moc_database_care.cpp"
