#pragma once

#include <QWidget>

#include <vector>

#include "core/run/spec_fields.h"

class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;
class QPlainTextEdit;

namespace batchscope::ui {

class NoteLine;

/// One row of a form: the field's name, a control for its kind, its unit, and its error beneath. Fields of which only
/// one can be set (the length of a run) share a row, with a choice of units to select one. UI thread.
class FieldEditor : public QWidget {
  Q_OBJECT

public:
  /// The fields must outlive the editor, as those of run::spec_fields() do.
  FieldEditor(const QString& label, std::vector<const run::SpecField*> fields, QWidget* parent = nullptr);

  /// The field that the text belongs to.
  const run::SpecField& field() const { return *fields_[chosen_]; }
  const QString& label() const { return label_; }
  bool edits(const std::string& key) const;
  bool advanced() const { return fields_.front()->advanced; }

  QString text() const;
  void set_text(const std::string& key, const QString& text);
  /// Sets the text that shows what an empty field means.
  void set_placeholder(const QString& text);
  void set_error(const QString& error); ///< empty: none
  void set_hint(const QString& hint);   ///< shown while there is no error
  QString error() const;
  /// Adds a widget at the end of the row.
  void add_button(QWidget* button);

Q_SIGNALS:
  void edited();
  void entered(); ///< the keyboard focus has entered

protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  QWidget* make_control();
  QPlainTextEdit* make_lines();
  void show_note();
  QComboBox* make_combo(const run::SpecField& field);
  void make_units();
  void show_unit();

  QString label_;
  std::vector<const run::SpecField*> fields_;
  std::size_t chosen_ = 0;
  // Exactly one of these is set.
  QLineEdit* line_ = nullptr;
  QComboBox* combo_ = nullptr;
  QCheckBox* check_ = nullptr;
  QPlainTextEdit* lines_ = nullptr;
  QWidget* control_ = nullptr; ///< the one that is set
  QComboBox* units_ = nullptr; ///< only if several fields share the row
  QLabel* unit_ = nullptr;     ///< inside the control, at its end
  NoteLine* note_ = nullptr;
  QString error_, hint_;
  QHBoxLayout* row_ = nullptr;
};

} // namespace batchscope::ui
