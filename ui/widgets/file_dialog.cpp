#include "ui/widgets/file_dialog.h"

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

/// Gives the entered name the ending of the selected filter; a desktop's own dialog does that itself.
void follow_filter(QFileDialog& dialog, const QString& filter) {
  const QString ending = ending_of(filter);
  if (ending.isEmpty())
    return;
  const QString before = dialog.defaultSuffix();
  dialog.setDefaultSuffix(ending);
  auto* edit = dialog.findChild<QLineEdit*>(QStringLiteral("fileNameEdit"));
  if (edit != nullptr && !before.isEmpty() && edit->text().endsWith(u'.' + before))
    edit->setText(edit->text().chopped(before.size()) + ending);
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
