#pragma once

#include <QString>
#include <QStringList>

class QFileDialog;
class QWidget;

// All file dialogs of the program are made here. Qt's own and those of desktops (GTK, KDE) guess the types of the files
// in a folder by opening them; where one of them is the run database, closing it drops the locks that SQLite has on it
// (see core/base/open_database.h). These dialogs are Qt's, tell a file's type by its name, and move, rename and delete
// none. UI thread.
namespace batchscope::ui {

/// For a file that is there already, or for any name. Deletes itself once it is closed; filters as Qt takes them.
QFileDialog* open_file_dialog(QWidget* parent, const QString& title, const QStringList& filters);

/// Of a window: the folder in which a file was saved last.
constexpr const char* saved_in_property = "saved_in";

/// For a file to write. `name`, with its ending, is suggested in the folder in which one was saved last from the same
/// window; where a filter with another ending is chosen (`*.csv`), the name that stands there gets it.
QFileDialog* save_file_dialog(QWidget* parent, const QString& title, const QStringList& filters, const QString& name);

/// `text` as the name of a file on any system, without an ending: what no name may have becomes a hyphen, and the name
/// is cut where it is too long. `otherwise` where nothing is left.
QString file_name_of(const QString& text, const QString& otherwise);
/// The same for a file about runs, after the first one: its name (else its number), and how many more there are.
QString file_name_of_runs(const QString& first_name, qint64 first_id, qsizetype count);

} // namespace batchscope::ui
