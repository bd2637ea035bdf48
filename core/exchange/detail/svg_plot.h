#pragma once

#include <string>
#include <utility>
#include <vector>

namespace batchscope::exchange::detail {

/// The text with the characters escaped that mean something in HTML and SVG, in texts and attributes alike.
std::string html_escaped(const std::string& text);

/// A plot as an inline SVG that follows the width of its page: lines or dots, axes with round numbers. Its
/// colours are classes (`c0` to `c5`, `grid`, `axis`), which the page's style sheet sets.
class SvgPlot {
public:
  static constexpr std::size_t colours = 6;

  struct Series {
    std::string label; ///< tooltip
    std::vector<std::pair<double, double>> points;
    bool line = true;       ///< false: dots
    std::size_t colour = 0; ///< class `c0` to `c5`, in turns
  };

  SvgPlot(std::string title, std::string x_label, std::string y_label)
      : title_(std::move(title)), x_label_(std::move(x_label)), y_label_(std::move(y_label)) {}

  /// Values that are not finite are left out, and break a line.
  void add(Series series) { series_.push_back(std::move(series)); }
  /// Empty if there is nothing to show.
  std::string svg() const;

private:
  std::string title_;
  std::string x_label_;
  std::string y_label_;
  std::vector<Series> series_;
};

} // namespace batchscope::exchange::detail
