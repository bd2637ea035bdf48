#include "ui/fit/fit_page.h"

#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include "core/estimate/run_of.h"
#include "ui/fit/text_form.h"
#include "ui/fit/transformer_form.h"
#include "ui/memory/fit_answer.h"
#include "ui/memory/fit_card.h"
#include "ui/widgets/choice_row.h"
#include "ui/widgets/command_palette.h"
#include "ui/widgets/commands.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/program_fit.h"

namespace batchscope::ui {

namespace {

constexpr int margin = 12;
constexpr int gap = 10;
constexpr const char* made_up_examples = "examples=10000000"; ///< which take no memory
constexpr double form_lines = 40, answer_lines = 32;          ///< wider ones would be hard to read

} // namespace

FitPage::FitPage(Workbench& workbench, QWidget* parent)
    : Page(parent), workbench_(workbench), predictor_(workbench.job_queue().data()),
      show_(make_command(
          this, tr("Will it fit on a GPU?"),
          tr("The largest batch size on any GPU, also one that this machine does not have, and how its memory is used"),
          {}, workbench.theme().icon(icon()))) {
  show_->setProperty(CommandPalette::keywords_property, tr("estimate gpu card memory vram cuda config.json"));
  connect(show_, &QAction::triggered, this, [this] { Q_EMIT workbench_.page_wanted(key()); });
  auto* columns = new QHBoxLayout;
  columns->setSpacing(gap);
  columns->addWidget(make_question(), 4);
  columns->addWidget(make_answer(), 3);
  columns->addStretch();
  auto* content = new QWidget(this);
  auto* inside = new QVBoxLayout(content);
  inside->setContentsMargins(0, 0, 0, 0);
  inside->addLayout(columns);
  inside->addStretch();
  auto* scroll = new QScrollArea(this);
  scroll->setWidget(content);
  scroll->setWidgetResizable(true);
  scroll->setFocusPolicy(Qt::NoFocus);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(margin, margin, margin, margin);
  layout->setSpacing(gap);
  layout->addWidget(make_header());
  layout->addWidget(scroll, 1);
  program_fit_ = new ProgramFit(workbench, *tried_, [this] { return program_->value(); });
  connect(&predictor_, &MemoryPredictor::card_computed, this, &FitPage::show_fit);
  connect(&predictor_, &MemoryPredictor::refused, this,
          [this](const QString& error) { computed_->show_failure(error); });
  show_subject();
}

QWidget* FitPage::make_header() {
  return page_header(tr("Will it fit?"),
                     tr("on any GPU, also one that this machine does not have; nothing is trained or stored"), {},
                     this);
}

QWidget* FitPage::make_question() {
  auto* card = new Card({}, this);
  subject_ = new ChoiceRow(tr("What is trained?"),
                           {{QStringLiteral("transformer"), tr("A transformer")},
                            {QStringLiteral("network"), tr("A built-in network")},
                            {QStringLiteral("program"), tr("Your own program")}},
                           card);
  transformer_ = new TransformerForm(card);
  network_ = make_network_form(card);
  program_ = make_program_form(card);
  forms_ = new QStackedWidget(card);
  for (QWidget* form : std::initializer_list<QWidget*>{transformer_, network_, program_})
    forms_->addWidget(form);
  card->body()->addWidget(subject_);
  card->body()->addWidget(forms_);
  connect(subject_, &ChoiceRow::changed, this, &FitPage::show_subject);
  connect(transformer_, &TransformerForm::changed, this, &FitPage::answer);
  connect(network_, &TextForm::changed, this, &FitPage::answer);
  auto* column = new QWidget(this);
  column->setMaximumWidth(Theme::lines(form_lines));
  auto* layout = new QVBoxLayout(column);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(card);
  layout->addStretch();
  return column;
}

QWidget* FitPage::make_answer() {
  auto* column = new QWidget(this);
  auto* layout = new QVBoxLayout(column);
  layout->setContentsMargins(0, 0, 0, 0);
  computed_ = new FitCard(workbench_.theme(), false, column);
  tried_ = new FitCard(workbench_.theme(), true, column);
  tried_->setObjectName(QStringLiteral("fit-program"));
  column->setMaximumWidth(Theme::lines(answer_lines));
  for (FitCard* card : {computed_, tried_})
    layout->addWidget(card);
  layout->addStretch();
  connect(computed_, &FitCard::card_changed, this, [this] {
    tried_->choose(computed_->chosen());
    program_fit_->show_none();
    answer();
  });
  connect(tried_, &FitCard::card_changed, this, [this] {
    computed_->choose(tried_->chosen());
    program_fit_->show_none();
  });
  return column;
}

void FitPage::show_subject() {
  const QString subject = subject_->chosen();
  const bool program = subject == QLatin1String("program");
  if (program)
    forms_->setCurrentWidget(program_);
  else
    forms_->setCurrentWidget(subject == QLatin1String("network") ? static_cast<QWidget*>(network_) : transformer_);
  computed_->setVisible(!program);
  tried_->setVisible(program);
  answer();
}

/// Only what is seen is computed: the first answer loads the engine.
void FitPage::answer() {
  if (!isVisible() || forms_->currentWidget() == program_)
    return;
  if (forms_->currentWidget() == transformer_)
    return answer_transformer();
  const auto spec = network_->value();
  if (spec)
    return request(*spec);
  predictor_.cancel();
  computed_->show_none(tr("Correct the marked fields."));
}

void FitPage::answer_transformer() {
  const auto value = transformer_->value();
  predictor_.cancel();
  if (!value)
    return computed_->show_none(tr("Correct the marked fields."));
  if (auto spec = estimate::run_of(value->model, value->training)) {
    spec->data += QStringLiteral(",%1").arg(QLatin1String(made_up_examples)).toStdString();
    spec->batch = {.kind = run::BatchChoice::Kind::number, .number = static_cast<std::int64_t>(value->training.batch)};
    return request(*spec);
  }
  if (const QString card = computed_->chosen(); !card.isEmpty()) {
    const estimate::Target target = estimate::parse_target(card.toStdString(), "--for");
    computed_->show_answer(answer_of(value->model, value->training, target), target);
  }
}

void FitPage::request(run::RunSpec spec) {
  computed_->show_working(tr("Computing…"));
  predictor_.request_card(spec, computed_->chosen());
}

void FitPage::show_fit(const std::shared_ptr<const estimate::CardFit>& fit,
                       const std::vector<estimate::Saving>& savings) {
  computed_->show_answer(answer_of(*fit, savings), fit->target);
}

bool FitPage::shows_problem(const QString& problem) const {
  return !program_fit_->failure().isEmpty() && problem.contains(program_fit_->failure());
}

void FitPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  answer();
}

QJsonObject FitPage::state() const {
  return {{"subject", subject_->chosen()},
          {"card", computed_->chosen()},
          {"transformer", transformer_->state()},
          {"network", network_->state()},
          {"program", program_->state()}};
}

void FitPage::restore(const QJsonObject& state) {
  transformer_->restore(state.value("transformer").toObject());
  network_->restore(state.value("network").toObject());
  program_->restore(state.value("program").toObject());
  for (FitCard* card : {computed_, tried_})
    card->choose(state.value("card").toString());
  subject_->choose(state.value("subject").toString());
  answer();
}

} // namespace batchscope::ui

#include "moc_fit_page.cpp"
