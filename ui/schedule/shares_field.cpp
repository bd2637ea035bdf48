#include "ui/schedule/shares_field.h"

#include <QKeyEvent>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/run/spec_fields.h"
#include "core/schedule/shares.h"
#include "ui/texts/spec_texts.h"

namespace batchscope::ui {

SharesField::SharesField(QWidget* parent) : LabelledEdit(field_label("shares"), parent) {
  setObjectName(QStringLiteral("shares"));
  set_help(field_translation(run::spec_field("shares").help));
  edit()->setPlaceholderText(tr("in proportion to their examples"));
  edit()->installEventFilter(this);
  connect(edit(), &QLineEdit::textEdited, this, [this] {
    check();
    Q_EMIT typed();
  });
  connect(edit(), &QLineEdit::returnPressed, this, [this] {
    if (error().isEmpty())
      Q_EMIT entered();
  });
  hide();
}

bool SharesField::eventFilter(QObject* watched, QEvent* event) {
  if (watched == edit() && event->type() == QEvent::KeyPress &&
      static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
    Q_EMIT dismissed();
    return true;
  }
  return LabelledEdit::eventFilter(watched, event);
}

void SharesField::show_none() {
  names_.clear();
  present_.clear();
  discard();
  hide();
}

void SharesField::show_shares(const run::RunSpec& spec, const std::string& shares, bool changeable) {
  std::vector<std::string> names;
  try {
    names = data::stream_names(spec.data);
  } catch (const Error&) {
    // A draft whose data cannot be read; its own field says so.
  }
  if (names.empty())
    return show_none();
  const bool typing = changed() && names == names_;
  names_ = std::move(names);
  clock_ = spec.clock;
  present_ = QString::fromStdString(shares);
  if (!typing || !changeable)
    discard();
  edit()->setEnabled(changeable);
  QStringList streams;
  for (const std::string& name : names_)
    streams << QString::fromStdString(name);
  set_hint(changeable ? tr("a share for each of %1").arg(streams.join(QStringLiteral(", ")))
                      : tr("The shares can be changed only until the run ends"));
  show();
}

bool SharesField::changed() const {
  return text() != present_;
}

void SharesField::discard() {
  set_text(present_);
  set_error({});
}

void SharesField::check() {
  QString problem;
  try {
    schedule::check_shares(text().toStdString(), names_, schedule::clock_of(clock_, names_));
  } catch (const Error& error) {
    problem = QString::fromUtf8(error.what());
  }
  // The error quotes the text that is directly above it.
  const QString quoted = QStringLiteral("--shares: '%1': ").arg(text());
  set_error(problem.startsWith(quoted) ? problem.mid(quoted.size()) : problem);
}

} // namespace batchscope::ui

#include "moc_shares_field.cpp"
