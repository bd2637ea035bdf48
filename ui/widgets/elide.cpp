#include "ui/widgets/elide.h"

#include <QAbstractItemView>
#include <QApplication>
#include <QStyle>

namespace batchscope::ui {

namespace {

constexpr QChar dots(0x2026);

/// Where the word begins that `at` is inside of, if that is a number; else `at`.
qsizetype before_number(const QString& text, qsizetype at) {
  if (at <= 0 || at >= text.size() || text[at].isSpace() || text[at - 1].isSpace())
    return at;
  const qsizetype first = text.lastIndexOf(u' ', at - 1) + 1;
  qsizetype end = text.indexOf(u' ', at);
  end = end < 0 ? text.size() : end;
  return is_number_word(QStringView(text).sliced(first, end - first)) ? first : at;
}

/// The same for what is kept of the end: where it begins. The end of a name must not read as a number either.
qsizetype after_number(const QString& text, qsizetype at) {
  qsizetype end = text.indexOf(u' ', at);
  end = end < 0 ? text.size() : end;
  const bool cuts = at > 0 && at < text.size() && !text[at - 1].isSpace();
  return cuts && (before_number(text, at) != at || is_number_word(QStringView(text).sliced(at, end - at))) ? end : at;
}

/// So many characters of the beginning and the end as elidedText() leaves.
struct Kept {
  qsizetype head = 0, tail = 0;
};

Kept kept_of(const QString& text, const QString& elided) {
  const qsizetype at = elided.indexOf(dots);
  Kept kept{at, elided.size() - at - 1};
  if (!text.startsWith(elided.first(kept.head)) || !text.endsWith(elided.last(kept.tail)))
    kept = {0, 0}; // the text has dots of its own
  return kept;
}

} // namespace

bool is_number_word(QStringView word) {
  while (!word.isEmpty() && (word.front() == u'(' || word.front() == u'[' || word.front() == u'"'))
    word = word.sliced(1);
  if (!word.isEmpty() && (word.front() == u'-' || word.front() == u'+' || word.front() == QChar(0x2212) ||
                          word.front() == QChar(0xb1) || word.front() == u'.'))
    word = word.sliced(1);
  return !word.isEmpty() && word.front().isDigit();
}

QString fitted_text(const QString& text, const QFontMetricsF& metrics, double width, Qt::TextElideMode mode) {
  const QString elided = metrics.elidedText(text, mode, width);
  if (elided == text)
    return text;
  if (!elided.contains(dots))
    return {}; // not even those fit
  const auto [head, tail] = kept_of(text, elided);
  const QString first = text.first(before_number(text, head)).trimmed();
  const QString last = tail == 0 ? QString() : text.sliced(after_number(text, text.size() - tail)).trimmed();
  return first + dots + last;
}

void fit_text(QStyleOptionViewItem& option) {
  // At the edges of a view that scrolls, what is seen of a cell is all the room that there is.
  if (const auto* view = qobject_cast<const QAbstractItemView*>(option.widget))
    option.rect &= view->viewport()->rect();
  const QStyle* style = option.widget ? option.widget->style() : QApplication::style();
  const QRect room = style->subElementRect(QStyle::SE_ItemViewItemText, &option, option.widget);
  const int margin = style->pixelMetric(QStyle::PM_FocusFrameHMargin, &option, option.widget) + 1;
  option.text = fitted_text(option.text, QFontMetricsF(option.font), room.width() - 2 * margin, option.textElideMode);
}

} // namespace batchscope::ui
