#include "ui/live/view_bar.h"

#include <QAction>
#include <QActionGroup>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLocale>
#include <QResizeEvent>
#include <QSlider>

#include "ui/live/plot_chooser.h"
#include "ui/theme/theme.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr int slider_steps = 100; ///< a weight of 1 would never follow the data
constexpr int usual_smoothing = 60;
constexpr double words_from = 46; ///< lines of text

} // namespace

ViewBar::ViewBar(QAction* log, QAction* follow, QWidget* parent)
    : QWidget(parent), axis_(new QComboBox(this)), smoothing_(new QSlider(Qt::Horizontal, this)),
      smoothing_value_(new QLabel(this)), axis_actions_(new QActionGroup(this)), plots_(new PlotChooser(this)),
      choose_plots_(make_command(this, tr("Choose plots…"), plots_->toolTip())), log_(log),
      clip_(make_command(this, tr("Clip outliers"),
                         tr("Exclude the highest and lowest 1 % of the values from the y scales"), Qt::Key_O)),
      by_stream_(make_command(this, tr("Streams"), tr("Draw the loss, coverage and examples of each data stream"),
                              QKeySequence())) {
  clip_->setCheckable(true);
  by_stream_->setCheckable(true);
  by_stream_->setChecked(true);
  log->setIconText(tr("Log scale"));
  log->setToolTip(tr("Draw the loss on a logarithmic scale (L)"));
  log->setShortcut(Qt::Key_L);
  follow->setIconText(tr("Follow"));
  follow->setToolTip(tr("Keep the newest step in view (F)"));
  axis_->setObjectName("axis");
  axis_->setAccessibleName(tr("X axis"));
  axis_->setToolTip(tr("Quantity on the x axis"));
  axis_->setFocusPolicy(Qt::TabFocus); // after a click the keys are the plots': Home shows all
  make_axis_actions();
  smoothing_->setObjectName("smoothing");
  smoothing_->setAccessibleName(tr("Smoothing of the loss"));
  smoothing_->setToolTip(tr("Smoothing factor (exponential moving average), relative to what is in view"));
  smoothing_->setRange(0, slider_steps - 1);
  smoothing_->setMinimumWidth(Theme::lines(0.5));
  smoothing_->setMaximumWidth(Theme::lines(6));
  smoothing_value_->setMinimumWidth(1);
  words_.append(smoothing_value_);

  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(Theme::lines(0.4));
  layout->addWidget(add_word(tr("x axis")));
  layout->addWidget(axis_);
  layout->addWidget(add_word(tr("smoothing")));
  words_.last()->setContentsMargins(Theme::lines(0.75), 0, 0, 0);
  layout->addWidget(smoothing_);
  layout->addWidget(smoothing_value_);
  layout->addSpacing(Theme::lines(0.75));
  layout->addWidget(add_box(log_, "log"));
  layout->addWidget(add_box(clip_, "clip"));
  by_stream_box_ = add_box(by_stream_, "streams");
  layout->addWidget(by_stream_box_);
  set_has_streams(false);
  layout->addStretch(1);
  layout->addWidget(plots_);
  layout->addWidget(add_box(follow, "follow"));

  connect(axis_, &QComboBox::currentIndexChanged, this, [this](int index) {
    axis_actions_->actions()[index]->setChecked(true);
    Q_EMIT axis_changed();
  });
  connect(smoothing_, &QSlider::valueChanged, this, [this](int value) {
    smoothing_value_->setText(QLocale().toString(value / double(slider_steps), 'f', 2));
    Q_EMIT smoothing_changed();
  });
  smoothing_->setValue(usual_smoothing);
  connect(choose_plots_, &QAction::triggered, plots_, &PlotChooser::open);
  connect(clip_, &QAction::toggled, this, &ViewBar::clipping_changed);
  connect(by_stream_, &QAction::toggled, this, &ViewBar::by_stream_changed);
}

QLabel* ViewBar::add_word(const QString& text) {
  words_.append(dimmed_label(text, this));
  words_.last()->setMinimumWidth(1);
  return words_.last();
}

void ViewBar::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  // The tooltips of the controls say what they are.
  for (QLabel* word : std::as_const(words_))
    word->setVisible(event->size().width() >= Theme::lines(words_from));
}

void ViewBar::make_axis_actions() {
  const std::pair<QString, QString> axes[series::axis_count] = {
      {tr("step"), tr("X axis: optimizer step")},
      {tr("examples"), tr("X axis: examples seen")},
      {tr("epoch"), tr("X axis: epoch")},
      {tr("time"), tr("X axis: time since the start, pauses excluded")},
      {tr("clock"), tr("X axis: date and time of day")}};
  for (const auto& [name, text] : axes) {
    axis_->addItem(name);
    QAction* action = axis_actions_->addAction(text);
    action->setCheckable(true);
    action->setToolTip(text);
    connect(action, &QAction::triggered, this, [this, index = axis_->count() - 1] { axis_->setCurrentIndex(index); });
  }
  axis_actions_->actions().first()->setChecked(true);
}

QCheckBox* ViewBar::add_box(QAction* action, const char* name) {
  auto* box = new QCheckBox(action->iconText(), this);
  box->setObjectName(name);
  box->setToolTip(action->toolTip());
  box->setChecked(action->isChecked());
  connect(box, &QCheckBox::clicked, action, &QAction::trigger);
  connect(action, &QAction::toggled, box, &QCheckBox::setChecked);
  return box;
}

series::Axis ViewBar::axis() const {
  return static_cast<series::Axis>(axis_->currentIndex());
}

double ViewBar::smoothing() const {
  return smoothing_->value() / double(slider_steps);
}

bool ViewBar::clipping() const {
  return clip_->isChecked();
}

bool ViewBar::by_stream() const {
  return by_stream_->isChecked();
}

void ViewBar::set_has_streams(bool has_streams) {
  by_stream_->setVisible(has_streams);
  by_stream_box_->setVisible(has_streams);
}

QList<QAction*> ViewBar::view_actions() const {
  return axis_actions_->actions() + QList<QAction*>{clip_, by_stream_, choose_plots_};
}

QJsonObject ViewBar::state() const {
  return {{"axis", axis_->currentIndex()}, {"smoothing", smoothing_->value()}, {"log_loss", log_->isChecked()},
          {"clipping", clipping()},        {"by_stream", by_stream()},         {"plots", to_json(plots_->choices())}};
}

void ViewBar::restore(const QJsonObject& state) {
  if (const int axis = state.value("axis").toInt(-1); axis >= 0 && axis < axis_->count())
    axis_->setCurrentIndex(axis);
  if (const int weight = state.value("smoothing").toInt(-1); weight >= 0 && weight < slider_steps)
    smoothing_->setValue(weight);
  if (state.value("log_loss").toBool(log_->isChecked()) != log_->isChecked())
    log_->trigger();
  clip_->setChecked(state.value("clipping").toBool(clipping()));
  by_stream_->setChecked(state.value("by_stream").toBool(by_stream()));
  plots_->choose(plot_choices_from(state.value("plots").toArray()));
}

} // namespace batchscope::ui

#include "moc_view_bar.cpp"
