#include "ui/widgets/command_filter.h"

namespace batchscope::ui {

namespace {

enum Match : int { begins = 0, inside = 1, scattered = 4, none = -1 };

bool begins_word(const QString& text, qsizetype at) {
  return at == 0 || !text[at - 1].isLetterOrNumber();
}

bool letters_in_order(const QString& text, const QString& word, qsizetype from) {
  for (const QChar letter : word) {
    from = text.indexOf(letter, from, Qt::CaseInsensitive);
    if (from < 0)
      return false;
    ++from;
  }
  return true;
}

Match match_of(const QString& text, const QString& word) {
  Match best = none;
  for (qsizetype at = 0; (at = text.indexOf(word, at, Qt::CaseInsensitive)) >= 0; ++at) {
    if (begins_word(text, at))
      return begins;
    best = inside;
  }
  for (qsizetype at = 0; best == none && (at = text.indexOf(word[0], at, Qt::CaseInsensitive)) >= 0; ++at) {
    if (begins_word(text, at) && letters_in_order(text, word, at))
      best = scattered;
  }
  return best;
}

} // namespace

void CommandFilter::set_words(const QString& words) {
  words_ = words.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  invalidate();
  sort(0);
}

int CommandFilter::score(const QString& text, const QStringList& words) {
  int sum = 0;
  for (const QString& word : words) {
    const Match found = match_of(text, word);
    if (found == none)
      return none;
    sum += found;
  }
  return sum;
}

bool CommandFilter::filterAcceptsRow(int row, const QModelIndex& parent) const {
  return score_of(sourceModel()->index(row, 0, parent)) >= 0;
}

/// A row that only its other words match comes after those whose text does.
int CommandFilter::score_of(const QModelIndex& row) const {
  constexpr int by_keywords = 16;
  const QString text = row.data().toString(), keywords = row.data(keywords_role).toString();
  const int own = score(text, words_);
  if (own != none || keywords.isEmpty())
    return own;
  const int with = score(text + QLatin1Char(' ') + keywords, words_);
  return with == none ? none : by_keywords + with;
}

bool CommandFilter::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const int one = score_of(left);
  const int other = score_of(right);
  if (one != other)
    return one < other;
  const bool enabled = left.data(enabled_role).toBool();
  return enabled != right.data(enabled_role).toBool() ? enabled : left.row() < right.row();
}

} // namespace batchscope::ui

#include "moc_command_filter.cpp"
