#pragma once

#include <QString>
#include <QStringList>

class QFileDialog;
class QWidget;

// Creates all file dialogs of the program: those of the desktop where it has some, else Qt's. Both open files of the
// folder that they show to find out their types, which does no harm to a run database that this process has open (see
// core/store/file/detail/system_calls.h). UI thread.
namespace batchscope::ui {

/// For an existing file, or for any name. Deletes itself when closed; filters have Qt's format.
QFileDialog* open_file_dialog(QWidget* parent, const QString& title, const QStringList& filters);

/// Property of a window: the folder in which a file was last saved.
constexpr const char* saved_in_property = "saved_in";

/// For saving a file. Suggests `name`, which has an ending, in the folder last used for saving from this window.
/// Choosing a filter with another ending (`*.csv`) changes the ending of the entered name.
QFileDialog* save_file_dialog(QWidget* parent, const QString& title, const QStringList& filters, const QString& name);

/// `text` as a file name that is valid on every system, without an ending: invalid characters become hyphens, and a
/// long name is cut. `otherwise` if nothing is left.
QString file_name_of(const QString& text, const QString& otherwise);
/// The same for a file about runs, named after the first one (its name, else its number) and the number of further
/// runs.
QString file_name_of_runs(const QString& first_name, qint64 first_id, qsizetype count);

} // namespace batchscope::ui
