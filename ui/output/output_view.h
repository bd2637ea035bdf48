#pragma once

#include <QWidget>

#include <optional>

#include "ui/output/output_reader.h"
#include "ui/widgets/keys.h"

class QLabel;
class QPushButton;

namespace batchscope::ui {

class ElidedLabel;
class OutputSearch;
class OutputText;
class Theme;

/// Where the output of a run's program is. A plain value.
struct ProgramOutputPlace {
  QString file;       ///< empty: not known
  bool grows = false; ///< the program still runs
  QString stored_end; ///< the last of it, as stored with the run; empty: nothing is stored

  bool operator==(const ProgramOutputPlace&) const = default;
};

/// Output of a program, followed while it runs: its last megabytes, to be searched and copied. Reads only while it is
/// seen. UI thread.
class OutputView : public QWidget {
  Q_OBJECT

public:
  explicit OutputView(const Theme& theme, QWidget* parent = nullptr);
  /// A row that says how much is shown, and has the search and the button for the folder; its owner puts it above.
  QWidget* tools() const { return tools_; }

  void show_output(const ProgramOutputPlace& place);
  void show_none();
  void open_search();
  /// The keys that work in it.
  static QList<KeyHelp> key_help();

Q_SIGNALS:
  void problem(const QString& text);

protected:
  void showEvent(QShowEvent* event) override;
  void hideEvent(QHideEvent* event) override;

private:
  void take(const OutputPart& part);
  void show_state();
  QString note() const;
  QString instead() const;
  void show_stored_end();
  void open_folder();

  OutputReader reader_;
  ProgramOutputPlace place_;
  std::optional<OutputPart> last_; ///< what was read last, without its lines; nothing: not read yet
  bool cut_ = false;               ///< the file has more in front of what was read
  bool stored_ = false;            ///< the stored end is shown in place of the file
  OutputText* text_;
  QWidget* tools_;
  OutputSearch* search_;
  ElidedLabel* note_;
  QLabel* instead_; ///< shown while there are no lines
  QPushButton* find_;
  QPushButton* folder_;
};

} // namespace batchscope::ui
