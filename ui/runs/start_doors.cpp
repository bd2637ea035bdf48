#include "ui/runs/start_doors.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme/theme.h"
#include "ui/widgets/widgets.h"
#include "ui/workbench/workbench.h"

namespace batchscope::ui {

namespace {

Card* door(const QString& title, const QString& text, QPushButton* button, QWidget* parent) {
  auto* card = new Card(title, parent);
  auto* label = dimmed_label(text, card);
  label->setWordWrap(true);
  label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  card->body()->addWidget(label, 1);
  card->body()->addWidget(button, 0, Qt::AlignLeft);
  return card;
}

QPushButton* named(QPushButton* button, const char* name) {
  button->setObjectName(QLatin1String(name));
  return button;
}

} // namespace

StartDoors::StartDoors(Workbench& workbench, QWidget* parent) : QWidget(parent) {
  auto* title = page_title(tr("No runs yet"), this);
  title->setAlignment(Qt::AlignHCenter);
  QPushButton* demo = named(filled_button(tr("Run the demo"), this), "door-demo");
  QPushButton* program = named(plain_button(tr("Own program"), this), "door-program");
  QPushButton* import = named(plain_button(tr("Import runs…"), this), "door-import");
  auto* doors = new QHBoxLayout;
  doors->setSpacing(Theme::lines(0.75));
  doors->addStretch(1);
  for (Card* card :
       {door(tr("See it work"),
             tr("Finds the batch size for a small network on bundled images, trains it with several sizes and recovers "
                "from an out-of-memory error, in 1 to 4 minutes."),
             demo, this),
        door(tr("Find a batch size"),
             tr("For your own PyTorch, Hugging Face or Lightning program, as you start it in a terminal. Built-in "
                "models are on the page Find."),
             program, this),
        door(tr("Look at runs that you have"),
             tr("From W&B, TensorBoard, MLflow, trackio, Hugging Face, Lightning, CSV or JSON."), import, this)}) {
    card->setMaximumWidth(Theme::lines(17));
    doors->addWidget(card);
  }
  doors->addStretch(1);
  auto* layout = new QVBoxLayout(this);
  layout->setSpacing(Theme::lines(1));
  layout->addStretch(2);
  layout->addWidget(title);
  layout->addLayout(doors);
  layout->addStretch(3);
  setFocusProxy(demo);
  const auto allow_import = [import, &workbench] {
    const QString& why = workbench.run_database().read_only();
    import->setEnabled(why.isEmpty());
    import->setToolTip(why);
  };
  connect(&workbench.run_database(), &RunDatabase::read_only_changed, import, allow_import);
  allow_import();
  connect(demo, &QPushButton::clicked, &workbench, [&workbench] { workbench.start_demo(); });
  connect(program, &QPushButton::clicked, &workbench, [&workbench] {
    run::RunSpec spec;
    spec.program.emplace().attach = true;
    workbench.propose_run(spec);
  });
  connect(import, &QPushButton::clicked, &workbench, &Workbench::import_wanted);
}

} // namespace batchscope::ui

#include "moc_start_doors.cpp"
