#include "ui/plot/detail/board.h"

#include <QFontMetricsF>
#include <QToolButton>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ui/plot/ticks.h"

namespace batchscope::ui {

namespace {

constexpr int on_top = 4;      ///< px above everything
constexpr int below_panel = 4; ///< px between a panel and the strip of the next
constexpr int above_ticks = 7; ///< px between the lowest panel and the text below it
constexpr int outer = 10;      ///< px left of the labels and below everything

/// The smallest x of a curve that a logarithmic axis can show.
std::optional<double> first_positive(const CurveSource& source, const Range& extent) {
  if (extent.first > 0)
    return extent.first;
  series::Samples samples;
  source.sample(std::numeric_limits<double>::min(), extent.second, 1, samples);
  const auto found = std::find_if(samples.x.begin(), samples.x.end(), [](double x) { return x > 0; });
  return found == samples.x.end() ? std::nullopt : std::optional(*found);
}

} // namespace

Board::Board(LinkedPlots& owner, const Theme& theme)
    : owner_(owner), theme_(theme), canvas_(new Canvas(&owner,
                                                       [this] {
                                                         if (pacer_.wanted())
                                                           pacer_.refresh();
                                                       })),
      show_all_(new QToolButton(&owner)), pacer_(owner, [this] { return draw(); }), fonts_(owner.font()),
      x_ticks_(new QCPAxisTickerText) {
  show_all_->setText(LinkedPlots::tr("Show all"));
  show_all_->setToolTip(LinkedPlots::tr("Leave the zoom (double click, or Home)"));
  show_all_->setProperty("kind", QStringLiteral("overlay"));
  show_all_->setFocusPolicy(Qt::NoFocus); // the plots' own keys do it
  show_all_->hide();
  QObject::connect(show_all_, &QToolButton::clicked, &owner, &LinkedPlots::show_all);
  new Painted(canvas_, layers::back, [this](QCPPainter& painter) { paint_back(picture(), painter); });
  new Painted(canvas_, layers::marks, [this](QCPPainter& painter) {
    paint_lines(picture(), painter);
    paint_strips(picture(), painter);
    paint_marks(picture(), painter);
  });
  new Painted(canvas_, layers::top, [this](QCPPainter& painter) { paint_top(picture(), painter); });
  recolor();
}

Board::~Board() {
  delete canvas_; // its callbacks refer to members that are about to be destroyed
}

Picture Board::picture() const {
  return {theme_, scene, view_, fonts_, panels_, curves_, QRectF(canvas_->rect())};
}

int Board::add_panel(const PanelSpec& spec) {
  panels_.push_back(std::make_unique<Panel>(*canvas_, spec, x_ticks_));
  panels_.back()->set_colors(theme_, fonts_.small);
  order_ += static_cast<int>(panels_.size()) - 1;
  arrange();
  return static_cast<int>(panels_.size()) - 1;
}

Panel* Board::panel(int number) const {
  return number >= 0 && static_cast<std::size_t>(number) < panels_.size()
             ? panels_[static_cast<std::size_t>(number)].get()
             : nullptr;
}

Panel* Board::panel_at(const QPointF& at) const {
  for (const auto& panel : panels_)
    if (panel->visible && panel->area().adjusted(0, -strip_height(fonts_), 0, below_panel).contains(at))
      return panel.get();
  return nullptr;
}

void Board::arrange() {
  QCPLayoutGrid* grid = canvas_->plotLayout();
  for (const auto& panel : panels_)
    if (panel->rect()->layout())
      grid->take(panel->rect());
  grid->simplify();
  for (const auto& panel : panels_) {
    panel->rect()->setVisible(panel->visible);
    panel->set_lowest(false);
  }
  const std::vector<Panel*> panels = shown();
  for (Panel* panel : panels)
    grid->addElement(grid->rowCount(), 0, panel->rect());
  if (!panels.empty())
    panels.back()->set_lowest(true);
  touch_soon();
}

void Board::set_order(QList<int> panels) {
  for (int number = 0; number < std::ssize(panels_); ++number)
    if (!panels.contains(number))
      panels += number;
  if (panels == order_)
    return;
  order_ = std::move(panels);
  arrange();
}

std::vector<Panel*> Board::shown() const {
  std::vector<Panel*> shown;
  for (const int number : order_)
    if (Panel* panel = this->panel(number); panel && panel->visible)
      shown.push_back(panel);
  return shown;
}

int Board::add_curve(int panel, std::shared_ptr<const CurveSource> source, const CurveStyle& style) {
  Panel* where = this->panel(panel);
  if (!where || !source)
    return 0;
  auto* graph =
      new Graph(where->rect()->axis(QCPAxis::atBottom), where->rect()->axis(QCPAxis::atLeft)); // the canvas owns it
  curves_.push_back(std::make_unique<Curve>(next_curve_++, panel, std::move(source), graph));
  curves_.back()->set_style(style, theme_);
  curves_.back()->set_hidden(is_hidden(panel, curves_.back()->entry()));
  where->fit_anew = true;
  touch_soon();
  return curves_.back()->id;
}

Curve* Board::curve(int id) const {
  const auto found = std::find_if(curves_.begin(), curves_.end(), [id](const auto& curve) { return curve->id == id; });
  return found == curves_.end() ? nullptr : found->get();
}

void Board::clear_curves() {
  curves_.clear();
  canvas_->clearGraphs();
  fit_anew();
  touch_soon();
}

void Board::set_hidden(int panel, const QString& entry, bool hidden) {
  Panel* where = this->panel(panel);
  if (!where || entry.isEmpty() || is_hidden(panel, entry) == hidden)
    return;
  if (hidden)
    hidden_.insert({panel, entry});
  else
    hidden_.erase({panel, entry});
  for (const auto& curve : curves_)
    if (curve->panel == panel && curve->entry() == entry)
      curve->set_hidden(hidden);
  where->fit_anew = true;
  touch();
  pacer_.soon();
}

void Board::fit_anew() {
  for (const auto& panel : panels_)
    panel->fit_anew = true;
}

void Board::touch_soon() {
  touch();
  pacer_.refresh();
}

void Board::navigate(const std::function<void(View&)>& change) {
  follow(); // so that it starts from the current data
  const bool following = view_.following();
  change(view_);
  report_view();
  if (view_.following() != following)
    Q_EMIT owner_.following_changed(view_.following());
  touch();
  pacer_.soon();
}

const View& Board::view_by_now() {
  follow();
  return view_;
}

void Board::report_view() {
  if (view_.range() == reported_)
    return;
  reported_ = view_.range();
  touch();
  Q_EMIT owner_.view_changed(reported_.first, reported_.second);
}

void Board::recolor() {
  fonts_ = PlotFonts(owner_.font());
  left_ = 0;
  canvas_->setBackground(QBrush(theme_.color(Role::card)));
  for (const auto& panel : panels_)
    panel->set_colors(theme_, fonts_.small);
  for (const auto& curve : curves_)
    curve->set_style(curve->style, theme_);
  touch();
  pacer_.soon();
}

std::optional<Range> Board::curves_range() const {
  std::optional<Range> range;
  for (const auto& curve : curves_) {
    if (!panels_[static_cast<std::size_t>(curve->panel)]->visible)
      continue;
    const auto extent = curve->source->extent();
    const auto first = extent ? view_.log() ? first_positive(*curve->source, *extent) : extent->first : std::nullopt;
    if (!first)
      continue;
    widen(range, *first);
    widen(range, extent->second);
  }
  return range;
}

std::optional<Range> Board::full_range(std::optional<Range> full) const {
  const auto widen_visible = [&](double x) {
    if (!view_.log() || x > 0)
      widen(full, x);
  };
  using Limits = std::numeric_limits<double>;
  const Range all(view_.log() ? Limits::min() : Limits::lowest(), Limits::max());
  if (const auto marks = scene.marks_within(all); !marks.empty()) { // in ascending order of x
    widen(full, marks.front().x);
    widen(full, marks.back().x);
  }
  for (const PlotBand& band : scene.bands)
    for (const double x : band.x)
      widen_visible(x);
  for (const PlotHandle& handle : scene.handles)
    widen_visible(handle.to);
  if (full && scene.end && *scene.end > full->first)
    widen_visible(*scene.end);
  return full;
}

void Board::follow() {
  if (scene.dragged_handle) // a dragged handle must stay under the pointer, even if its plan becomes longer
    return;
  constexpr double of_the_plan = 0.1; // fraction of the width right of the newest data, for the next planned steps
  const auto curves = curves_range();
  const auto full = full_range(curves);
  double newest = curves ? curves->second : 1;
  if (full && scene.future && !view_.log())
    newest = std::min(full->second, *scene.future + of_the_plan * (view_.range().second - view_.range().first));
  view_.set_full(full, newest);
}

int Board::plot_width() const {
  const double right = std::ceil(QFontMetricsF(fonts_.small).horizontalAdvance(QStringLiteral("0,000")) / 2) + 6;
  return std::max(1, canvas_->width() - static_cast<int>(left_ + right));
}

void Board::lay_out() {
  const int strip = static_cast<int>(strip_height(fonts_));
  const int line = static_cast<int>(std::ceil(QFontMetricsF(fonts_.small).height()));
  const int lowest = above_ticks + line + (scene.x_label.isEmpty() ? 0 : line + 2) + outer - 2;
  const int right = std::max(0, canvas_->width() - static_cast<int>(left_) - plot_width());
  const std::vector<Panel*> visible = shown();
  double weights = 0;
  const int legend = static_cast<int>(shared_legend_height(picture(), plot_width()));
  for (const Panel* panel : visible)
    weights += panel->height;
  const auto count = static_cast<int>(visible.size());
  const int rest =
      std::max(10 * count, canvas_->height() - count * strip - (count - 1) * below_panel - lowest - on_top - legend);
  double used = 0;
  for (int i = 0; i < count; ++i) {
    Panel& panel = *visible[static_cast<std::size_t>(i)];
    const double before = used;
    used += panel.height;
    const int height = static_cast<int>(std::lround(rest * used / weights) - std::lround(rest * before / weights));
    const int below = i + 1 < count ? below_panel : lowest;
    const int above = strip + (i == 0 ? on_top + legend : 0);
    panel.rect()->setMargins(QMargins(static_cast<int>(left_), above, right, below));
    canvas_->plotLayout()->setRowStretchFactor(i, above + height + below);
    heights_[&panel] = height;
  }
}

bool Board::fit_axes() {
  const QFontMetricsF metrics(fonts_.small);
  const bool clock = view_.values() == XValues::clock;
  const double label =
      metrics.horizontalAdvance(clock ? QStringLiteral("00:00:00") : number_text(std::round(view_.range().second)));
  const int most = std::max(2, static_cast<int>(plot_width() / std::max(label * 1.9, metrics.height() * 5.5)));
  const Ticks ticks = clock         ? clock_ticks(view_.range(), most, QTimeZone::systemTimeZone())
                      : view_.log() ? log_ticks(view_.range(), most)
                                    : linear_ticks(view_.range(), most, view_.values() == XValues::whole);
  x_ticks_->setTicks(ticks.places, ticks.labels);
  double widest = metrics.horizontalAdvance(QStringLiteral("000"));
  for (std::size_t i = 0; i < panels_.size(); ++i) {
    Panel& panel = *panels_[i];
    if (!panel.visible)
      continue;
    panel.fit(curves_, static_cast<int>(i), scene, view_, clipping);
    widest = std::max(widest, panel.set_axes(view_, heights_[&panel], fonts_.small));
  }
  const double needed = std::ceil(widest) + above_ticks + outer;
  if (needed <= left_)
    return true;
  left_ = needed;
  return false;
}

bool Board::prepare() {
  if (canvas_->viewport() != owner_.rect()) { // also if it was never shown
    canvas_->setGeometry(owner_.rect());
    canvas_->setViewport(owner_.rect());
    touch();
  }
  if (canvas_->bufferDevicePixelRatio() != owner_.devicePixelRatioF()) {
    canvas_->setBufferDevicePixelRatio(owner_.devicePixelRatioF());
    touch();
  }
  follow();
  report_view();
  bool changed = touched_;
  touched_ = false;
  constexpr int tries = 3; // a wider margin makes the plot narrower, with other samples
  for (int i = 0; i < tries; ++i) {
    const int pixels = plot_width();
    for (const auto& curve : curves_) {
      const Panel& panel = *panels_[static_cast<std::size_t>(curve->panel)];
      if (panel.visible && curve->take_samples(view_, pixels, panel.log))
        changed = true;
    }
    if (!changed)
      return false;
    lay_out();
    if (fit_axes())
      break;
  }
  lay_out();
  return true;
}

bool Board::draw() {
  if (!prepare())
    return false;
  drawn_ = true;
  canvas_->set_top_used(top_used());
  place_show_all();
  canvas_->replot(pacer_.visible() ? QCustomPlot::rpImmediateRefresh : QCustomPlot::rpQueuedRefresh);
  return true;
}

void Board::place_show_all() {
  const std::vector<Panel*> visible = shown();
  const bool part = !visible.empty() &&
                    (!view_.shows_all() || std::any_of(visible.begin(), visible.end(),
                                                       [](const Panel* panel) { return panel->zoomed_y.has_value(); }));
  if (part) {
    constexpr int apart = 4;
    const QRect area = visible.front()->area().toRect();
    show_all_->adjustSize();
    show_all_->move(area.right() - show_all_->width() - apart, area.top() + apart);
  }
  show_all_->setVisible(part);
}

void Board::draw_top() {
  if (!pacer_.visible() || !drawn_ || touched_) {
    touch();
    pacer_.soon();
    return;
  }
  canvas_->set_top_used(top_used());
  canvas_->layer(layers::top)->replot();
}

bool Board::top_used() const {
  return scene.crosshair || scene.cursors[0] || scene.cursors[1] || scene.zooming || scene.focus ||
         !scene.handles.isEmpty();
}

} // namespace batchscope::ui
