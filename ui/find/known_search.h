#pragma once

#include <QList>
#include <QPointer>

#include <memory>

#include "ui/find/search_view.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

/// A search that can be shown: one of this sitting, or one that the database has from another. UI thread.
struct KnownSearch {
  QPointer<Job> job;
  std::shared_ptr<const StoredSearch> stored;

  explicit operator bool() const { return job || stored; }
  bool operator==(const KnownSearch& other) const { return job == other.job && stored == other.stored; }

  const run::RunSpec& spec() const;           ///< of one that is there
  SearchView view() const;                    ///< likewise
  const search::SearchResult& result() const; ///< of one that is through
  std::string trials() const;                 ///< run::trial_key() of its spec
};

/// Those that have an answer, oldest first; a search of this sitting that is stored is there once.
QList<KnownSearch> known_searches(Workbench& workbench);

/// A row of a list of searches.
struct SearchRow {
  KnownSearch search;
  QString name;
  QString text;
  QString value;
  QString tip;

  bool operator==(const SearchRow&) const = default;
};
struct SearchRows {
  QList<SearchRow> same;   ///< asked the same as the one shown, by their strategy; oldest first
  QList<SearchRow> others; ///< all others, by what they searched; newest first
};
SearchRows rows_beside(const QList<KnownSearch>& all, const KnownSearch& shown);

/// A spec's parts in a few words each, for people: model, data, optimizer, device with its budget.
QStringList described(const run::RunSpec& spec);

} // namespace batchscope::ui
