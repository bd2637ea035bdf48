#include "ui/advice/advice_page.h"

#include <QClipboard>
#include <QComboBox>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QScrollArea>
#include <QTableView>

#include "core/base/error.h"
#include "ui/advice/questions_card.h"
#include "ui/advice/size_model.h"
#include "ui/advice/table_model.h"
#include "ui/findings/findings_card.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/text_table.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

namespace {

constexpr int margin = 12;
constexpr int gap = 10;

QLabel* wrapped_text(QWidget* parent, const char* property, const char* value) {
  auto* label = new QLabel(parent);
  label->setProperty(property, QString(value));
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  return label;
}

void show_lines(QLabel& label, const std::vector<std::string>& lines) {
  QStringList text;
  for (const std::string& line : lines)
    text += QString::fromStdString(line);
  label.setText(text.join('\n'));
  label.setVisible(!lines.empty());
}

TextTable* new_table(const Theme& theme, QAbstractItemModel* model, double lines, QWidget* parent) {
  auto* table = new TextTable(theme, parent);
  table->setModel(model);
  table->setSelectionMode(QAbstractItemView::SingleSelection);
  table->setMinimumHeight(Theme::lines(lines));
  return table;
}

QString start_text(const run::RunSpec& spec) {
  const std::int64_t batch = spec.batch.number;
  return spec.accumulate == 1 ? QString::number(batch) : AdvicePage::tr("%1 × %2").arg(batch).arg(spec.accumulate);
}

} // namespace

AdvicePage::AdvicePage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), adviser_(workbench.run_database().database()),
      watching_(std::make_unique<QObject>()) {
  make_actions();
  findings_ = new FindingsCard(workbench_.theme(), this);
  auto* side = new QScrollArea(this);
  auto* column = new QWidget(side);
  auto* inside = new QVBoxLayout(column);
  inside->setContentsMargins(0, 0, 0, 0);
  inside->addWidget(findings_);
  inside->addStretch();
  side->setWidget(column);
  side->setWidgetResizable(true);
  side->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  side->setFixedWidth(Theme::lines(20));
  side->setFocusPolicy(Qt::NoFocus);
  auto* columns = new QHBoxLayout;
  columns->setSpacing(gap);
  columns->addWidget(side); // about the user's own run, so first
  columns->addWidget(make_left(), 1);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(margin, margin, margin, margin);
  layout->setSpacing(gap);
  layout->addWidget(make_header());
  layout->addLayout(columns, 1);
  setFocusProxy(size_table_);
  connect(&workbench_, &Workbench::current_changed, this, &AdvicePage::judge);
  connect(&adviser_, &Adviser::judged, this, &AdvicePage::show_findings);
  connect(findings_, &FindingsCard::run_proposed, &workbench_, &Workbench::propose_run);
  answer();
  show_table();
  judge();
}

void AdvicePage::make_actions() {
  const Theme& theme = workbench_.theme();
  use_ = make_command(this, tr("New run as advised"), tr("Put the selected row into the New run form"),
                      QKeySequence(Qt::CTRL | Qt::Key_Return), theme.icon(QStringLiteral("new-run")));
  connect(use_, &QAction::triggered, this, &AdvicePage::use);
  copy_ = make_command(this, tr("Copy as Markdown"), tr("Copy the rows with their sources"),
                       QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_C), theme.icon(QStringLiteral("copy")));
  connect(copy_, &QAction::triggered, this, [this] { QGuiApplication::clipboard()->setText(markdown()); });
}

QWidget* AdvicePage::make_header() {
  return page_header(tr("Advice"), tr("what documents and papers say, each row with its source"),
                     {bind(plain_button({}, this), copy_), bind(filled_button({}, this), use_)}, this);
}

QWidget* AdvicePage::make_left() {
  auto* scroll = new QScrollArea(this);
  auto* left = new QWidget(scroll);
  questions_ = new QuestionsCard(left);
  auto* layout = new QVBoxLayout(left);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(gap);
  layout->addWidget(questions_);
  layout->addWidget(make_sizes_card(left), 3);
  layout->addWidget(make_tables_card(left), 2);
  scroll->setWidget(left);
  scroll->setWidgetResizable(true);
  scroll->setFocusPolicy(Qt::NoFocus);
  connect(questions_, &QuestionsCard::changed, this, &AdvicePage::answer);
  return scroll;
}

QWidget* AdvicePage::make_sizes_card(QWidget* parent) {
  auto* card = new Card(tr("What the sources say"), parent);
  sizes_ = new SizeModel(card);
  size_table_ = new_table(workbench_.theme(), sizes_, 9, card);
  size_table_->setObjectName(QStringLiteral("sizes"));
  size_table_->setAccessibleName(tr("What the sources say"));
  for (const auto column : {SizeModel::why_column, SizeModel::source_column})
    size_table_->horizontalHeader()->setSectionResizeMode(column, QHeaderView::Stretch);
  disagreements_ = wrapped_text(card, "tone", "warning");
  remarks_ = wrapped_text(card, "kind", "dimmed");
  command_ = wrapped_text(card, "kind", "dimmed");
  command_->setObjectName(QStringLiteral("advised-command"));
  command_->setToolTip(tr("The same in a terminal"));
  card->body()->addWidget(size_table_, 1);
  for (QLabel* label : {disagreements_, remarks_, command_})
    card->body()->addWidget(label);
  connect(size_table_, &QTableView::activated, this, &AdvicePage::use);
  connect(size_table_->selectionModel(), &QItemSelectionModel::selectionChanged, this, &AdvicePage::show_row);
  return card;
}

QWidget* AdvicePage::make_tables_card(QWidget* parent) {
  auto* card = new Card({}, parent);
  which_table_ = new QComboBox(card);
  which_table_->setObjectName(QStringLiteral("which-table"));
  which_table_->setAccessibleName(tr("Table"));
  which_table_->addItem(tr("Rules"), QStringLiteral("rules"));
  which_table_->addItem(tr("Published accuracies"), QStringLiteral("accuracies"));
  which_table_->addItem(tr("What techniques cost"), QStringLiteral("costs"));
  which_table_->addItem(tr("Red flags"), QStringLiteral("red-flags"));
  which_table_->addItem(tr("Common excuses"), QStringLiteral("excuses"));
  which_table_->addItem(tr("Sources"), QStringLiteral("sources"));
  table_ = new TableModel(card);
  auto* view = new_table(workbench_.theme(), table_, 8, card);
  view->setObjectName(QStringLiteral("advice-table"));
  view->setAccessibleName(tr("Table of advice"));
  view->share_out_width();
  auto* row = new QHBoxLayout;
  row->addWidget(which_table_);
  row->addStretch();
  card->body()->addLayout(row);
  card->body()->addWidget(view, 1);
  connect(which_table_, &QComboBox::activated, this, &AdvicePage::show_table);
  return card;
}

void AdvicePage::answer() {
  try {
    advice_ = advice::advise(questions_->question());
  } catch (const Error& error) { // the tables cannot be read
    Q_EMIT workbench_.problem(QString::fromUtf8(error.what()));
    return;
  }
  sizes_->set_rows(advice_.rows);
  for (const auto column : {SizeModel::micro_column, SizeModel::accumulate_column, SizeModel::effective_column}) {
    size_table_->resizeColumnToContents(column);
    size_table_->setColumnWidth(column, size_table_->columnWidth(column) + Theme::lines(0.5)); // of the header's frame
  }
  show_lines(*disagreements_, advice_.disagreements);
  show_lines(*remarks_, advice_.remarks);
  show_row();
}

const advice::SizeRow* AdvicePage::selected() const {
  const QModelIndexList rows = size_table_->selectionModel()->selectedRows();
  return rows.isEmpty() ? nullptr : &sizes_->row(rows.first().row());
}

const std::optional<run::RunSpec>& AdvicePage::proposed() const {
  const advice::SizeRow* row = selected();
  return row != nullptr ? row->spec : advice_.spec;
}

void AdvicePage::show_row() {
  const advice::SizeRow* row = selected();
  const auto& spec = proposed();
  const std::string& command = row != nullptr ? row->command : advice_.train_command;
  command_->setText(QString::fromStdString(command));
  command_->setVisible(!command.empty());
  use_->setIconText(spec ? tr("New run with %1").arg(start_text(*spec)) : tr("New run"));
  allow(*use_, spec.has_value(),
        command.empty() ? tr("This row has no sizes") : tr("Several GPUs can only be planned, in a terminal"));
}

void AdvicePage::show_table() {
  try {
    table_->read(which_table_->currentData().toString());
  } catch (const Error& error) {
    Q_EMIT workbench_.problem(QString::fromUtf8(error.what()));
  }
}

void AdvicePage::use() {
  if (const auto& spec = proposed())
    workbench_.propose_run(*spec);
}

void AdvicePage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  judge();
}

void AdvicePage::judge() {
  watching_ = std::make_unique<QObject>();
  const OpenRun* run = workbench_.current();
  if (run == nullptr) {
    adviser_.judge({});
    return;
  }
  for (auto signal : {&OpenRun::described, &OpenRun::status_changed})
    connect(run, signal, watching_.get(), [this, run] { adviser_.judge({run->id()}); });
  adviser_.judge({run->id()});
}

void AdvicePage::show_findings(const std::vector<advice::RunFindings>& findings) {
  const OpenRun* run = workbench_.current();
  if (run == nullptr || findings.empty() || findings.front().run != run->id()) {
    findings_->show_text(tr("Findings"), tr("Open a run on the Runs page to check its settings and results here, "
                                            "compared with the other runs of its sweep."));
    return;
  }
  const QString name = run->name();
  findings_->show_findings(name.isEmpty() ? tr("Findings on run %1").arg(run->id())
                                          : tr("Findings on run %1, “%2”").arg(run->id()).arg(name),
                           findings.front().findings, run->spec());
}

QList<KeyGroup> AdvicePage::key_groups() const {
  const QString keys = TextTable::open_keys().toString(QKeySequence::NativeText);
  return {{tr("Tables of advice"), {{keys, tr("Open the source of the selected row in the web browser")}}}};
}

QString AdvicePage::markdown() const {
  QStringList lines;
  QStringList titles;
  for (int column = 0; column < sizes_->columnCount(); ++column)
    titles += sizes_->headerData(column, Qt::Horizontal).toString();
  lines += QStringLiteral("| %1 |").arg(titles.join(QStringLiteral(" | ")));
  lines += QStringLiteral("| ---: | ---: | ---: | --- | --- |");
  for (int row = 0; row < sizes_->rowCount(); ++row) {
    QStringList cells;
    for (int column = 0; column < sizes_->columnCount(); ++column)
      cells += sizes_->index(row, column).data().toString();
    lines += QStringLiteral("| %1 |").arg(cells.join(QStringLiteral(" | ")));
  }
  for (const QLabel* label : {disagreements_, remarks_})
    if (!label->isHidden())
      lines += QStringLiteral("\n") + label->text();
  return lines.join('\n') + '\n';
}

QJsonObject AdvicePage::state() const {
  return {{"questions", questions_->state()}, {"table", which_table_->currentData().toString()}};
}

void AdvicePage::restore(const QJsonObject& state) {
  questions_->restore(state.value("questions").toObject());
  if (const int index = which_table_->findData(state.value("table").toString()); index >= 0) {
    which_table_->setCurrentIndex(index);
    show_table();
  }
}

} // namespace batchscope::ui

#include "moc_advice_page.cpp"
