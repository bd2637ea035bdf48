#include "ui/output/output_view.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QGridLayout>
#include <QUrl>

#include "ui/output/output_search.h"
#include "ui/output/output_text.h"
#include "ui/texts/terminal_text.h"
#include "ui/theme/theme.h"
#include "ui/widgets/format.h"
#include "ui/widgets/widgets.h"

namespace batchscope::ui {

OutputView::OutputView(const Theme& theme, QWidget* parent)
    : QWidget(parent), reader_(this), text_(new OutputText(theme, this)), tools_(new QWidget(this)),
      search_(new OutputSearch(theme, *text_, tools_)), note_(new ElidedLabel(Qt::ElideMiddle, tools_)),
      instead_(dimmed_label({}, this)), find_(plain_button(tr("Search…"), tools_)),
      folder_(plain_button(tr("Open folder"), tools_)) {
  note_->setObjectName(QStringLiteral("output-note"));
  note_->setProperty("kind", QStringLiteral("dimmed"));
  note_->setTextFormat(Qt::PlainText);
  instead_->setObjectName(QStringLiteral("no-output"));
  instead_->setTextFormat(Qt::PlainText);
  instead_->setAlignment(Qt::AlignCenter);
  instead_->setWordWrap(true);
  instead_->setAttribute(Qt::WA_TransparentForMouseEvents);
  find_->setToolTip(tr("Search the output (%1)").arg(QKeySequence(QKeySequence::Find).toString()));
  auto* row = new QHBoxLayout(tools_);
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(Theme::lines(0.5));
  row->addWidget(note_, 1);
  row->addWidget(search_);
  row->addWidget(find_);
  row->addWidget(folder_);
  auto* layout = new QGridLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(text_, 0, 0);
  layout->addWidget(instead_, 0, 0);
  setFocusProxy(text_);
  reader_.set_active(false); // until it is seen
  connect(&reader_, &OutputReader::came, this, &OutputView::take);
  connect(search_, &OutputSearch::toggled, find_, &QWidget::setHidden);
  connect(find_, &QPushButton::clicked, search_, &OutputSearch::open);
  connect(folder_, &QPushButton::clicked, this, &OutputView::open_folder);
  show_none();
}

void OutputView::show_output(const ProgramOutputPlace& place) {
  if (place == place_ && last_)
    return;
  const bool same = place.file == place_.file && !place.file.isEmpty();
  const bool ended = same && place_.grows && !place.grows;
  const bool begins = !same || (place.grows && !place_.grows);
  place_ = place;
  if (begins) {
    last_.reset();
    stored_ = false;
    text_->clear_lines();
    reader_.read(place.file, place.grows);
  } else if (ended) {
    reader_.set_ended();
  }
  if (place.file.isEmpty())
    last_ = OutputPart{.file = OutputPart::File::missing};
  if (last_ && last_->file != OutputPart::File::present)
    show_stored_end();
  show_state();
}

void OutputView::show_none() {
  show_output({});
}

void OutputView::open_search() {
  search_->open();
}

QList<KeyHelp> OutputView::key_help() {
  return {{QKeySequence(QKeySequence::Find).toString(), tr("Search")},
          {QStringLiteral("F3, Shift+F3"), tr("Next and previous place")},
          {QStringLiteral("Esc"), tr("Close the search")}};
}

void OutputView::take(const OutputPart& part) {
  last_ = part;
  last_->lines.clear();
  if (part.file != OutputPart::File::present) {
    show_stored_end();
    return show_state();
  }
  if (part.begins) {
    stored_ = false;
    cut_ = part.cut;
    text_->clear_lines();
  }
  text_->replace_from(part.from, part.lines);
  show_state();
}

/// Unless more was read before the file went.
void OutputView::show_stored_end() {
  if (stored_ || place_.stored_end.isEmpty() || text_->line_count() > 0)
    return;
  stored_ = true;
  text_->replace_from(0, terminal_lines(place_.stored_end));
}

void OutputView::show_state() {
  const bool lines = text_->line_count() > 0;
  note_->setText(lines ? note() : QString());
  folder_->setToolTip(tr("Open the folder of the file with the whole output, %1").arg(place_.file));
  instead_->setText(instead());
  instead_->setVisible(!lines);
  find_->setEnabled(lines);
  folder_->setVisible(last_ && last_->file == OutputPart::File::present);
}

QString OutputView::note() const {
  if (!last_)
    return {};
  const qint64 count = text_->line_count();
  const QString lines = count == 1 ? tr("1 line") : tr("%1 lines").arg(format_count(count));
  if (stored_ && last_->file == OutputPart::File::unreadable)
    return tr("The file cannot be read: %1. These last lines were stored with the run.").arg(last_->error);
  if (stored_)
    return tr("The file is gone. These last lines were stored with the run.");
  if (last_->file != OutputPart::File::present)
    return tr("The file is gone. These lines were read before.");
  const QString size = format_bytes(static_cast<double>(last_->bytes));
  if (cut_ || text_->has_left_out())
    return tr("Only the last %1 of a file of %2 are shown").arg(lines, size);
  return tr("%1, %2").arg(lines, size);
}

/// Text in place of the lines, while there are none.
QString OutputView::instead() const {
  if (!last_)
    return tr("Reading the output…");
  if (last_->file == OutputPart::File::unreadable)
    return tr("The output in %1 cannot be read: %2").arg(place_.file, last_->error);
  if (place_.grows)
    return tr("The program has written nothing yet.");
  if (last_->file == OutputPart::File::present)
    return last_->complete ? tr("The program wrote nothing.") : tr("Reading the output…");
  return place_.file.isEmpty() ? tr("It is not known where the program wrote its output.")
                               : tr("The output file no longer exists: %1").arg(place_.file);
}

void OutputView::open_folder() {
  const QString folder = QFileInfo(place_.file).absolutePath();
  if (!QDesktopServices::openUrl(QUrl::fromLocalFile(folder)))
    Q_EMIT problem(tr("No file manager was found. The output is in %1.").arg(place_.file));
}

void OutputView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  reader_.set_active(true);
}

void OutputView::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  reader_.set_active(false);
}

} // namespace batchscope::ui

#include "moc_output_view.cpp"
