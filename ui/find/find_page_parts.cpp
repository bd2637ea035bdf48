// Layout and header of the page.
#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QScrollArea>
#include <QStackedWidget>

#include "core/run/spec_keys.h"
#include "ui/find/answer_card.h"
#include "ui/find/chip_row.h"
#include "ui/find/find_page.h"
#include "ui/find/find_setup.h"
#include "ui/find/memory_card.h"
#include "ui/find/probe_card.h"
#include "ui/find/search_list.h"
#include "ui/find/search_plots.h"
#include "ui/widgets/commands.h"
#include "ui/workbench/known_memory.h"

namespace batchscope::ui {

namespace {

constexpr double side_width = 25; // in lines of text

/// How a strategy searches, in a line; empty for an unknown one.
QString strategy_help(const QString& name) {
  const std::pair<const char*, QString> known[] = {
      {"predictive", FindPage::tr("predictive: probe two small sizes, predict the largest, verify it with a real run")},
      {"halving", FindPage::tr("halving: start at 128, halve until a size fits")},
      {"doubling", FindPage::tr("doubling: double until OOM, then try 1.5 times the largest that fits")},
      {"shrink", FindPage::tr("shrink: start at 128, multiply by the factor until a size fits")},
      {"power", FindPage::tr("power: double until OOM, keep the largest that fits")},
      {"binary", FindPage::tr("binary: double until OOM, then bisect")}};
  for (const auto& [strategy, help] : known)
    if (name == QLatin1String(strategy))
      return help;
  return {};
}

} // namespace

QWidget* FindPage::make_header() {
  auto* header = new QWidget(this);
  auto* row = new QHBoxLayout(header);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(8);
  row->addWidget(page_title(tr("Find the batch size"), header));
  chips_ = new ChipRow(header);
  row->addWidget(chips_);
  change_ = plain_button(tr("Change…"), header);
  change_->setObjectName(QStringLiteral("change"));
  change_->setCheckable(true);
  change_->setToolTip(setup_action_->toolTip());
  connect(change_, &QPushButton::clicked, setup_action_, &QAction::setChecked);
  connect(setup_action_, &QAction::toggled, change_, &QPushButton::setChecked);
  row->addWidget(change_);
  row->addStretch(1);
  activity_ = dimmed_label({}, header);
  activity_->setMinimumWidth(1); // texts must fit the window, not enlarge it
  row->addWidget(activity_);
  log_ = new QCheckBox(tr("Log scale"), header);
  log_->setToolTip(log_action_->toolTip());
  connect(log_, &QCheckBox::clicked, log_action_, &QAction::setChecked);
  connect(log_action_, &QAction::toggled, log_, &QCheckBox::setChecked);
  row->addWidget(log_);
  strategy_ = new QComboBox(header);
  QStringList helps;
  for (const std::string& name : search::strategies()) {
    strategy_->addItem(QString::fromStdString(name));
    helps << strategy_help(strategy_->itemText(strategy_->count() - 1));
    strategy_->setItemData(strategy_->count() - 1, helps.last(), Qt::ToolTipRole);
  }
  strategy_->setCurrentText(QStringLiteral("predictive"));
  strategy_->setObjectName(QStringLiteral("strategy"));
  strategy_->setAccessibleName(tr("Strategy"));
  strategy_->setToolTip(tr("Search strategy\n%1").arg(helps.join(u'\n')));
  connect(strategy_, &QComboBox::currentTextChanged, setup_, &FindSetup::set_strategy);
  row->addWidget(strategy_);
  cancel_ = plain_button(tr("Stop search"), header);
  cancel_->setObjectName(QStringLiteral("cancel"));
  cancel_->setToolTip(cancel_action_->toolTip());
  connect(cancel_, &QPushButton::clicked, cancel_action_, &QAction::trigger);
  row->addWidget(cancel_);
  find_ = filled_button(tr("Find again"), header);
  find_->setObjectName(QStringLiteral("find"));
  find_->setToolTip(find_action_->toolTip());
  connect(find_, &QPushButton::clicked, find_action_, &QAction::trigger);
  row->addWidget(find_);
  return header;
}

QWidget* FindPage::make_body() {
  body_ = new QWidget(this);
  auto* row = new QHBoxLayout(body_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(10);
  auto* frame = new Card({}, body_);
  plots_ = new SearchPlots(workbench_.theme(), frame);
  frame->layout()->setContentsMargins(10, 6, 10, 6);
  frame->body()->addWidget(plots_);
  row->addWidget(frame, 1);

  auto* side = new QWidget(body_);
  auto* column = new QVBoxLayout(side);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(10);
  answer_ = new AnswerCard(side);
  probes_ = new ProbeCard(workbench_.theme(), side);
  memory_ = new MemoryCard(workbench_.theme(), side);
  others_ = new SearchList(tr("Other strategies"),
                           tr("Choose another strategy and search again to compare the results here."), side);
  earlier_ = new SearchList(tr("Other searches"), {}, side);
  for (QWidget* card : {static_cast<QWidget*>(answer_), static_cast<QWidget*>(probes_), static_cast<QWidget*>(memory_),
                        static_cast<QWidget*>(others_), static_cast<QWidget*>(earlier_)})
    column->addWidget(card);
  column->addStretch(1);
  probes_->setObjectName(QStringLiteral("search"));
  memory_->setObjectName(QStringLiteral("memory"));
  others_->setObjectName(QStringLiteral("others"));
  earlier_->setObjectName(QStringLiteral("earlier"));
  auto* scroll = new QScrollArea(body_);
  scroll->setWidget(side);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setFixedWidth(Theme::lines(side_width));
  row->addWidget(scroll);

  connect(answer_, &AnswerCard::train_wanted, this, [this](qint64 batch) { workbench_.start_run(answered(batch)); });
  connect(answer_, &AnswerCard::edit_wanted, this, [this](qint64 batch) { workbench_.propose_run(answered(batch)); });
  connect(answer_, &AnswerCard::settings_wanted, this, [this] { setup_action_->setChecked(true); });
  connect(probes_, &ProbeCard::chosen, this, [this](int number, qint64 batch) {
    plots_->choose(number);
    show_size(batch);
  });
  connect(probes_, &ProbeCard::chosen_none, this, [this] {
    plots_->choose(0);
    show_size(std::nullopt);
  });
  connect(plots_, &SearchPlots::chosen, probes_, &ProbeCard::choose);
  for (const SearchList* list : {others_, earlier_})
    connect(list, &SearchList::chosen, this, &FindPage::show_search);
  connect(&plots_->plots(), &LinkedPlots::problem, &workbench_, &Workbench::problem);
  connect(&plots_->plots(), &LinkedPlots::saved, this,
          [this](const QString& file) { Q_EMIT workbench_.note(tr("Saved: %1").arg(file)); });
  return body_;
}

/// For the shown answer, whatever is searched next; without an answer, for the next search.
void FindPage::show_chips() {
  const QStringList names{tr("Model"), tr("Data"), tr("Optimizer"), tr("Device and memory budget")};
  const QStringList texts = described(shown_ ? shown_.spec() : setup_->spec());
  QList<ChipRow::Chip> chips;
  for (qsizetype i = 0; i < texts.size(); ++i)
    chips << ChipRow::Chip{texts[i], names[i]};
  chips_->set_chips(chips);
}

void FindPage::show_header() {
  const bool searches = searching();
  const Job* working = workbench_.engine().working();
  QString activity;
  if (searches)
    activity = shown_.job->state() == Job::State::waiting && working != nullptr
                   ? tr("queued behind: %1").arg(working->title())
                   : shown_.job->activity();
  activity_->setText(activity);
  // Of the two buttons that alternate, the visible one gets the keyboard focus.
  const bool hand_over = find_->hasFocus() || cancel_->hasFocus();
  log_->setVisible(bool(shown_));
  cancel_->setVisible(searches);
  find_->setVisible(shown_ && !searches); // while there is no search, the page itself has the button
  const run::RunSpec next = setup_->spec();
  find_->setText(shown_ && run::trial_key(shown_.spec()) == run::trial_key(next) ? tr("Find again") : tr("Find"));
  find_->setToolTip(tr("Search %1").arg(described(next).join(QStringLiteral(", "))));
  if (hand_over)
    (searches ? cancel_ : find_)->setFocus();
  const QString& read_only = workbench_.run_database().read_only();
  allow(*find_action_, !searches && read_only.isEmpty(), searches ? tr("A search is running") : read_only);
  allow(*cancel_action_, searches, tr("No search is running"));
}

} // namespace batchscope::ui
