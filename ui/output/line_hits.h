#pragma once

#include <QString>
#include <QStringView>

#include <deque>
#include <optional>
#include <tuple>

namespace batchscope::ui {

/// Where a text occurs in lines that come and go, without regard to case. A plain value.
class LineHits {
public:
  struct Hit {
    qint64 line = 0;
    qsizetype column = 0;

    bool operator==(const Hit&) const = default;
    bool operator<(const Hit& other) const { return std::tie(line, column) < std::tie(other.line, other.column); }
  };

  /// Searches another text, in no lines yet; empty: finds nothing.
  void set_text(const QString& text);
  const QString& text() const { return text_; }
  /// Searches a line below all others.
  void add(qint64 line, QStringView content);
  void drop_from(qint64 line);   ///< this line and those below
  void drop_before(qint64 line); ///< the lines above

  /// In the order of the lines.
  const std::deque<Hit>& all() const { return hits_; }
  /// Index of the first one at or behind this place, else of the first of all; nothing without any.
  std::optional<std::size_t> at_or_after(const Hit& place) const;
  /// Index of the last one in front of this place, else of the last of all; nothing without any.
  std::optional<std::size_t> before(const Hit& place) const;

private:
  std::deque<Hit>::const_iterator first_at(const Hit& place) const;

  QString text_;
  std::deque<Hit> hits_;
};

} // namespace batchscope::ui
