#include "ui/database/list_watch.h"

#include <QCoreApplication>

#include <utility>

#include "core/base/error.h"
#include "core/run/spec_keys.h"
#include "core/search/run_search.h"
#include "core/store/run_reader.h"
#include "core/store/run_store.h"
#include "core/store/transient_error.h"

namespace batchscope::ui {

namespace {

constexpr std::int64_t max_searches = 300;

QString translated(const char* text, int count = -1) {
  return QCoreApplication::translate("batchscope::ui::RunDatabase", text, nullptr, count);
}

} // namespace

/// Reads the list of runs if the database has changed.
void ListWatch::look() {
  try {
    tell_read_only();
    std::error_code not_a_file; // said by what opens it
    if (!std::filesystem::exists(file_, not_a_file) && !not_a_file)
      return look_at_nothing(had_database_);
    if (std::filesystem::file_size(file_, not_a_file) == 0 && !not_a_file)
      return look_at_nothing(false);
    if (!reader_ || !same_file())
      open();
    say_replaced(reader_->notice());
    const std::int64_t version = reader_->version();
    store::ListChanges changes = reader_->changes(cursor_);
    if (!changes.empty())
      listener_.list_changed(std::move(changes));
    // After the list, which people wait for.
    if (std::exchange(unchecked_, false))
      check_soon();
    if (version_ != version) {
      show_searches(reader_->searches(last_search_, max_searches));
      show_views(reader_->views());
    }
    version_ = version;
    shows_nothing_ = false;
    tell({});
  } catch (const store::DamageError& error) {
    reader_.reset();
    tell(QString::fromUtf8(error.what()), true);
  } catch (const std::exception& error) {
    reader_.reset();
    tell(QString::fromUtf8(error.what()));
  }
}

/// There is no database yet, or an empty file that will become one: no runs, and none are missing.
void ListWatch::look_at_nothing(bool missing) {
  reader_.reset();
  if (!missing && !std::exchange(shows_nothing_, true)) {
    store::ListChanges none;
    none.all = true;
    listener_.list_changed(std::move(none));
    forget_searches();
    show_views({});
  }
  tell(missing ? gone() : QString());
}

QString ListWatch::gone() const {
  return translated(
             "%1 no longer exists; the table shows the last known runs. Restore the file or open another database.")
      .arg(QString::fromStdString(file_.string()));
}

void ListWatch::open() {
  cursor_ = {};
  version_.reset();
  forget_searches();
  reader_ = read_or_bring_up_to_date();
  opened_ = file_identity(file_);
  had_database_ = true;
  unchecked_ = checked_ != opened_; // once a file: it is opened anew after every problem
  checked_ = opened_;
}

/// All of the file is read, which may take long, so that has a thread of its own.
void ListWatch::check_soon() {
  checks_.post([this] {
    const auto stop = [this] { return closing_.load(); };
    try {
      say_damage(store::RunReader(file_).quick_check(stop));
    } catch (const std::exception&) {
      // It cannot be read any more, which is said at the next look.
    }
  });
}

void ListWatch::say_damage(const std::vector<std::string>& lines) {
  if (lines.empty())
    return;
  QString text = QString::fromStdString(lines.front());
  if (lines.size() > 1)
    text += translated("; %n more, run `batchscope-cli --db %1 check` to list all", static_cast<int>(lines.size()) - 1)
                .arg(QString::fromStdString(file_.string()));
  // What is missing is in no file, damaged or not.
  if (lines.front().starts_with("database: "))
    listener_.damaged(text);
  else
    listener_.problem(text);
}

/// Reports each replacement of the database's files once.
void ListWatch::say_replaced(const std::string& notice) {
  if (notice == notice_)
    return;
  notice_ = notice;
  listener_.problem(QString::fromStdString(notice));
}

/// Migrates a database of an older format, with a backup beside it, before reading it.
std::unique_ptr<store::RunReader> ListWatch::read_or_bring_up_to_date() const {
  try {
    return std::make_unique<store::RunReader>(file_);
  } catch (const Error&) {
    store::check_usable(file_); // reports the error of any other file
    const store::RunStore migrated(file_);
    return std::make_unique<store::RunReader>(file_);
  }
}

/// Adds the searches stored since the last read.
void ListWatch::show_searches(const std::vector<store::StoredSearch>& rows) {
  std::vector<std::shared_ptr<const StoredSearch>> searches;
  for (const store::StoredSearch& row : rows) {
    last_search_ = row.id;
    try {
      auto search = std::make_shared<StoredSearch>();
      search->id = row.id;
      search->created = QString::fromStdString(row.created);
      search->spec = run::stored_spec_from_json(row.spec_json);
      search->trials = run::trial_key(search->spec);
      search->result = std::make_shared<search::SearchResult>(search::search_result_from_json(row.result_json));
      searches.push_back(std::move(search));
    } catch (const Error&) {
      // From a newer version, or damaged.
    }
  }
  if (!searches.empty())
    listener_.searches_read(std::move(searches));
}

/// The next read is from another file.
void ListWatch::forget_searches() {
  if (std::exchange(last_search_, 0) == 0)
    return;
  listener_.searches_forgotten();
}

void ListWatch::show_views(std::vector<store::SavedView> views) {
  if (views == views_)
    return;
  views_ = std::move(views);
  listener_.views_read(views_);
}

/// Reports a problem once, and once that it is over.
void ListWatch::tell(const QString& problem, bool damage) {
  if (problem == reported_)
    return;
  reported_ = problem;
  if (damage)
    listener_.damaged(problem);
  else
    listener_.problem(problem);
}

/// Checked every time: permissions change.
void ListWatch::tell_read_only() {
  const QString why = QString::fromStdString(store::why_read_only(file_));
  if (why == read_only_)
    return;
  read_only_ = why;
  listener_.read_only(why);
}

} // namespace batchscope::ui
