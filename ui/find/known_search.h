#pragma once

#include <QList>
#include <QPointer>

#include <memory>

#include "ui/find/search_view.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

/// A search that can be shown: of this session of the program, or from the database. UI thread.
struct KnownSearch {
  QPointer<Job> job;
  std::shared_ptr<const StoredSearch> stored;

  explicit operator bool() const { return job || stored; }
  bool operator==(const KnownSearch& other) const { return job == other.job && stored == other.stored; }

  const run::RunSpec& spec() const;           ///< requires that one is set
  SearchView view() const;                    ///< likewise
  const search::SearchResult& result() const; ///< of a finished search
  std::optional<std::int64_t> id() const;     ///< in the database; nothing if it is not stored
  std::string trials() const;                 ///< run::trial_key() of its spec
};

/// All searches with an answer, oldest first; a stored search of this session is listed once.
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
  QList<SearchRow> same;   ///< same question as the one shown, named by strategy; oldest first
  QList<SearchRow> others; ///< all others, named by what they searched; newest first
};
SearchRows rows_beside(const QList<KnownSearch>& all, const KnownSearch& shown);

/// Parts of a spec as short texts for display: model, data, optimizer, device with its budget.
QStringList described(const run::RunSpec& spec);

} // namespace batchscope::ui
