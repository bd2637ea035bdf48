#include "ui/plot/linked_plots.h"

#include <QContextMenuEvent>
#include <QHelpEvent>
#include <QKeyEvent>
#include <QMenu>
#include <QMouseEvent>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>

#include "ui/plot/detail/linked_plots_impl.h"

namespace batchscope::ui {

LinkedPlots::Impl::Impl(LinkedPlots& owner, const Theme& theme) : board(owner, theme), input(owner, board) {}

LinkedPlots::LinkedPlots(const Theme& theme, QWidget* parent) : QWidget(parent) {
  impl_ = std::make_unique<Impl>(*this, theme); // its widgets are children, about which event() is notified
  setFocusPolicy(Qt::StrongFocus);
  setMouseTracking(true);
  setAccessibleDescription(
      tr("Left and right move, plus and minus zoom, Home shows all, End follows the newest, Control "
         "with left and right moves the crosshair, C sets a cursor, M goes to the next mark, Tab to "
         "the next handle, up and down move it."));
  connect(&theme, &Theme::changed, this, [this] { impl_->board.recolor(); });
  add_actions();
}

LinkedPlots::~LinkedPlots() = default;

int LinkedPlots::add_panel(const PanelSpec& spec) {
  const int number = impl_->board.add_panel(spec);
  add_panel_action(number);
  tell_panels();
  return number;
}

/// To screen readers, and to the layout: room for each plot.
void LinkedPlots::tell_panels() {
  QStringList titles;
  double lines = 0;
  for (const Panel* panel : impl_->board.shown()) {
    titles << panel->spec.heading();
    lines += impl_->least_lines * std::max(1.0, panel->height);
  }
  setAccessibleName(tr("Plots: %1").arg(titles.join(tr(", "))));
  setMinimumHeight(Theme::lines(std::min(lines, impl_->most_lines)));
}

void LinkedPlots::set_needed(double of_a_plot, double at_most) {
  impl_->least_lines = of_a_plot;
  impl_->most_lines = at_most;
  tell_panels();
}

void LinkedPlots::set_log(int panel, bool log) {
  Panel* where = impl_->board.panel(panel);
  if (!where || where->log == log)
    return;
  where->log = log;
  where->zoomed_y.reset();
  where->fit_anew = true;
  if (QAction* action = impl_->log_actions.value(panel))
    action->setChecked(log);
  impl_->board.touch_soon();
}

bool LinkedPlots::log(int panel) const {
  const Panel* where = impl_->board.panel(panel);
  return where && where->log;
}

void LinkedPlots::set_clipping(double fraction) {
  constexpr double most = 0.45;
  impl_->board.clipping = std::clamp(fraction, 0.0, most);
  impl_->board.fit_anew();
  impl_->board.touch_soon();
}

void LinkedPlots::set_panel_visible(int panel, bool visible) {
  Panel* where = impl_->board.panel(panel);
  if (!where || where->visible == visible)
    return;
  where->visible = visible;
  Scene& scene = impl_->board.scene;
  if (const PlotHandle* focused = scene.handle(scene.focused_handle); focused && focused->panel == panel)
    scene.focused_handle.reset(); // keys must not move what nobody sees
  if (QAction* action = impl_->log_actions.value(panel))
    action->setVisible(visible);
  impl_->board.arrange();
  tell_panels();
}

bool LinkedPlots::panel_visible(int panel) const {
  const Panel* where = impl_->board.panel(panel);
  return where && where->visible;
}

const PanelSpec& LinkedPlots::panel_spec(int panel) const {
  return impl_->board.panel(panel)->spec;
}

void LinkedPlots::set_panel_order(const QList<int>& panels) {
  impl_->board.set_order(panels);
  tell_panels();
}

void LinkedPlots::set_panel_height(int panel, double height) {
  Panel* where = impl_->board.panel(panel);
  if (!where || where->height == height)
    return;
  where->height = height;
  impl_->board.touch_soon();
  tell_panels();
}

int LinkedPlots::add_curve(int panel, std::shared_ptr<const CurveSource> source, const CurveStyle& style) {
  return impl_->board.add_curve(panel, std::move(source), style);
}

void LinkedPlots::set_style(int curve, const CurveStyle& style) {
  if (Curve* found = impl_->board.curve(curve)) {
    found->set_style(style, impl_->board.theme());
    found->set_hidden(impl_->board.is_hidden(found->panel, found->entry()));
    impl_->board.touch_soon();
  }
}

void LinkedPlots::clear_curves() {
  impl_->board.clear_curves();
}

void LinkedPlots::set_hidden(int panel, const QString& name, bool hidden) {
  impl_->board.set_hidden(panel, name, hidden);
}

bool LinkedPlots::hidden(int panel, const QString& name) const {
  return impl_->board.is_hidden(panel, name);
}

void LinkedPlots::set_caption(const QString& text) {
  impl_->board.scene.caption = text;
}

void LinkedPlots::set_marks(const QList<PlotMark>& marks) {
  impl_->board.scene.marks.clear();
  add_marks(marks);
}

void LinkedPlots::add_marks(const QList<PlotMark>& marks) {
  const auto left_of = [](const PlotMark& a, const PlotMark& b) { return a.x < b.x; };
  auto& now = impl_->board.scene.marks;
  const qsizetype before = now.size();
  now += marks;
  const auto middle = now.begin() + before;
  std::stable_sort(middle, now.end(), left_of);
  // Events arrive in order, so they are appended.
  if (before > 0 && middle != now.end() && left_of(*middle, *(middle - 1)))
    std::inplace_merge(now.begin(), middle, now.end(), left_of);
  impl_->board.touch_soon();
}

void LinkedPlots::choose_mark(std::optional<qint64> id) {
  impl_->input.choose_mark(id);
}

void LinkedPlots::set_limits(const QList<PlotLimit>& limits) {
  impl_->board.scene.limits = limits;
  impl_->board.touch_soon();
}

void LinkedPlots::set_arrows(const QList<PlotArrow>& arrows) {
  impl_->board.scene.arrows = arrows;
  impl_->board.touch_soon();
}

void LinkedPlots::add_arrows(const QList<PlotArrow>& arrows) {
  impl_->board.scene.arrows += arrows;
  impl_->board.touch_soon();
}

void LinkedPlots::set_bands(const QList<PlotBand>& bands) {
  impl_->board.scene.bands = bands;
  impl_->board.touch_soon();
}

void LinkedPlots::set_handles(int panel, const QList<PlotHandle>& handles) {
  Scene& scene = impl_->board.scene;
  scene.handles.removeIf([panel](const PlotHandle& handle) { return handle.panel == panel; });
  scene.handles += handles;
  if (PlotHandle* dragged = scene.handle(scene.dragged_handle))
    dragged->y = scene.dragged_to;
  if (!scene.handle(scene.focused_handle))
    scene.focused_handle.reset();
  impl_->board.touch_soon();
}

void LinkedPlots::set_future(std::optional<double> from) {
  impl_->board.scene.future = from;
  impl_->board.touch_soon();
}

void LinkedPlots::set_shared_legend(bool shared) {
  if (std::exchange(impl_->board.scene.shared_legend, shared) != shared)
    impl_->board.touch_soon();
}

void LinkedPlots::set_end(std::optional<double> x) {
  impl_->board.scene.end = x;
  impl_->board.touch_soon();
}

void LinkedPlots::set_x_label(const QString& text) {
  impl_->board.scene.x_label = text;
  impl_->board.touch_soon();
}

void LinkedPlots::show_crosshair_values() {
  impl_->board.scene.crosshair_values = true;
}

void LinkedPlots::set_log_x(bool log) {
  impl_->board.navigate([log](View& view) { view.set_log(log); });
}

void LinkedPlots::set_x_values(XValues values) {
  impl_->board.set_x_values(values);
  impl_->board.touch_soon();
}

void LinkedPlots::refresh() {
  impl_->board.pacer().refresh();
}

void LinkedPlots::refresh_now() {
  impl_->board.pacer().now();
}

void LinkedPlots::show_all() {
  for (const auto& panel : impl_->board.panels())
    panel->zoomed_y.reset();
  impl_->board.fit_anew();
  impl_->board.navigate([](View& view) { view.show_all(); });
}

void LinkedPlots::show_range(double from, double to) {
  impl_->board.navigate([=](View& view) { view.show(from, to); });
}

std::pair<double, double> LinkedPlots::visible_range() const {
  return impl_->board.view_by_now().range();
}

void LinkedPlots::set_following(bool following) {
  impl_->board.navigate([following](View& view) { view.set_following(following); });
}

std::optional<QPointF> LinkedPlots::position(int panel, double x, double y) const {
  const Panel* where = impl_->board.panel(panel);
  if (!where || !where->visible)
    return std::nullopt;
  const QPointF at(where->x_pixel(x), where->y_pixel(y));
  constexpr double at_the_border = 0.5;
  const QRectF area = where->area().adjusted(-at_the_border, -at_the_border, at_the_border, at_the_border);
  return area.contains(at) ? std::optional(at) : std::nullopt;
}

bool LinkedPlots::following() const {
  return impl_->board.view().following();
}

void LinkedPlots::set_crosshair(std::optional<double> x) {
  impl_->input.put_crosshair(x, false);
}

std::optional<double> LinkedPlots::crosshair() const {
  return impl_->board.scene.crosshair;
}

void LinkedPlots::set_cursors(std::optional<double> first, std::optional<double> second) {
  impl_->input.put_cursors(first, second);
}

std::pair<std::optional<double>, std::optional<double>> LinkedPlots::cursors() const {
  return {impl_->board.scene.cursors[0], impl_->board.scene.cursors[1]};
}

QList<LinkedPlots::Reading> LinkedPlots::readings() const {
  QList<Reading> readings;
  const Scene& scene = impl_->board.scene;
  const auto between = scene.between_cursors();
  for (const auto& curve : impl_->board.curves()) {
    if (curve->style.name.isEmpty())
      continue;
    Reading reading{curve->style.name, curve->panel, curve->id, curve->color, std::nullopt, std::nullopt};
    if (scene.crosshair)
      reading.value = curve->source->value_at(*scene.crosshair);
    if (between)
      reading.between = curve->source->summary(between->first, between->second);
    readings.push_back(reading);
  }
  return readings;
}

std::vector<double> LinkedPlots::refresh_times() const {
  return impl_->board.pacer().times();
}

bool LinkedPlots::focusNextPrevChild(bool next) {
  return impl_->input.focus_next(next) || QWidget::focusNextPrevChild(next);
}

bool LinkedPlots::event(QEvent* event) {
  if (!impl_)
    return QWidget::event(event);
  Input& input = impl_->input;
  switch (event->type()) {
  case QEvent::MouseButtonPress:
    input.press(*static_cast<QMouseEvent*>(event));
    break;
  case QEvent::MouseMove:
    input.move(*static_cast<QMouseEvent*>(event));
    return true;
  case QEvent::MouseButtonRelease:
    input.release(*static_cast<QMouseEvent*>(event));
    return true;
  case QEvent::MouseButtonDblClick:
    input.double_click(*static_cast<QMouseEvent*>(event));
    return true;
  case QEvent::Wheel:
    event->setAccepted(input.wheel(*static_cast<QWheelEvent*>(event)));
    return true;
  case QEvent::Leave:
    input.leave();
    break;
  case QEvent::ToolTip:
    input.help(*static_cast<QHelpEvent*>(event));
    return true;
  case QEvent::ShortcutOverride:
    if (input.takes(*static_cast<QKeyEvent*>(event))) {
      event->accept();
      return true;
    }
    break;
  case QEvent::KeyPress:
    if (input.key(*static_cast<QKeyEvent*>(event)))
      return true;
    break;
  case QEvent::FocusIn:
    input.focus_in(static_cast<QFocusEvent*>(event)->reason());
    break;
  case QEvent::FocusOut:
    input.focus_out();
    break;
  case QEvent::ContextMenu:
    open_menu(static_cast<QContextMenuEvent*>(event)->globalPos());
    return true;
  case QEvent::Resize:
  case QEvent::Show:
    if (impl_->board.pacer().visible() || event->type() == QEvent::Show)
      impl_->board.pacer().now();
    break;
  case QEvent::FontChange:
    impl_->board.recolor();
    break;
  default:
    break;
  }
  return QWidget::event(event);
}

} // namespace batchscope::ui

#include "moc_linked_plots.cpp"
