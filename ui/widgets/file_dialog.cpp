#include "ui/widgets/file_dialog.h"

#include <algorithm>

#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QRegularExpression>

#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

constexpr int longest_name = 80; // characters, at most 240 bytes

QFileDialog* make_dialog(QWidget* parent, const QString& title, const QStringList& filters) {
  auto* dialog = new QFileDialog(parent, title);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setNameFilters(filters);
  dialog->resize(Theme::lines(50), Theme::lines(30));
  return dialog;
}

/// The ending of `Tables (*.csv)`; empty if there is none, or more than one.
QString ending_of(const QString& filter) {
  static const QRegularExpression one(QStringLiteral("\\(\\*\\.([^ *)]+)\\)"));
  return one.match(filter).captured(1);
}

bool is_ending_of_a_filter(const QFileDialog& dialog, const QString& ending) {
  const QStringList filters = dialog.nameFilters();
  return std::any_of(filters.begin(), filters.end(), [&](const QString& each) { return ending_of(each) == ending; });
}

/// Gives the entered name the ending of the selected filter. Only Qt's own dialog, whose names can be edited here, adds
/// an ending to a name without one: desktops' dialogs would do that after they have asked whether to replace a file.
void follow_filter(QFileDialog& dialog, const QString& filter) {
  const QString ending = ending_of(filter);
  if (ending.isEmpty())
    return;
  auto* edit = dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
  const QString name = edit != nullptr ? edit->text() : QFileInfo(dialog.selectedFiles().value(0)).fileName();
  const QString before = QFileInfo(name).suffix();
  const QString renamed = name.chopped(before.size()) + ending;
  if (edit != nullptr)
    dialog.setDefaultSuffix(ending);
  if (before.isEmpty() || !is_ending_of_a_filter(dialog, before))
    return;
  if (edit != nullptr)
    edit->setText(renamed);
  else
    dialog.selectFile(renamed);
}

} // namespace

QFileDialog* open_file_dialog(QWidget* parent, const QString& title, const QStringList& filters) {
  QFileDialog* dialog = make_dialog(parent, title, filters);
  dialog->setOption(QFileDialog::ReadOnly);
  return dialog;
}

QFileDialog* save_file_dialog(QWidget* parent, const QString& title, const QStringList& filters, const QString& name) {
  QFileDialog* dialog = make_dialog(parent, title, filters);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  QObject::connect(dialog, &QFileDialog::filterSelected, dialog,
                   [dialog](const QString& filter) { follow_filter(*dialog, filter); });
  if (dialog->findChild<QLineEdit*>(QStringLiteral("fileNameEdit")) != nullptr)
    dialog->setDefaultSuffix(ending_of(filters.value(0)));
  if (QWidget* window = parent != nullptr ? parent->window() : nullptr) {
    if (const QString folder = window->property(saved_in_property).toString(); !folder.isEmpty())
      dialog->setDirectory(folder);
    QObject::connect(dialog, &QFileDialog::fileSelected, window, [window](const QString& file) {
      window->setProperty(saved_in_property, QFileInfo(file).absolutePath());
    });
  }
  dialog->selectFile(name);
  return dialog;
}

QString file_name_of(const QString& text, const QString& otherwise) {
  static const QRegularExpression refused(QStringLiteral("[\\x00-\\x1f\\x7f/\\\\:*?\"<>|]+"));
  static const QRegularExpression edges(QStringLiteral("^[\\s.-]+|[\\s.-]+$"));
  QString name = text;
  name.replace(refused, QStringLiteral("-"));
  name = name.remove(edges).left(longest_name);
  if (!name.isEmpty() && name.back().isHighSurrogate())
    name.chop(1);
  name.remove(edges);
  return name.isEmpty() ? otherwise : name;
}

QString file_name_of_runs(const QString& first_name, qint64 first_id, qsizetype count) {
  const QString first = file_name_of(first_name, QStringLiteral("run-%1").arg(first_id));
  return count == 1 ? first : QFileDialog::tr("%1 and %2 more").arg(first).arg(count - 1);
}

} // namespace batchscope::ui
