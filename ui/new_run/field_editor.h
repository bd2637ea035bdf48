#pragma once

#include <QWidget>

#include <vector>

#include "core/run/spec_fields.h"

class QCheckBox;
class QComboBox;
class QHBoxLayout;
class QLabel;
class QLineEdit;

namespace batchscope::ui {

class NoteLine;

/// One row of a form: the field's name, the control that suits its kind, its unit, and beneath it what is wrong. Some
/// fields are alternatives of which one is set (the length of a run): they share a row, and a choice of units tells
/// which it is. UI thread.
class FieldEditor : public QWidget {
  Q_OBJECT

public:
  /// The fields must outlive it, as those of run::spec_fields() do.
  FieldEditor(const QString& label, std::vector<const run::SpecField*> fields, QWidget* parent = nullptr);

  /// The one that the text belongs to.
  const run::SpecField& field() const { return *fields_[chosen_]; }
  const QString& label() const { return label_; }
  bool edits(const std::string& key) const;
  bool advanced() const { return fields_.front()->advanced; }

  QString text() const;
  void set_text(const std::string& key, const QString& text);
  /// What an empty field means.
  void set_placeholder(const QString& text);
  void set_error(const QString& error); ///< empty: none
  QString error() const;
  /// Puts a widget at the end of the row.
  void add_button(QWidget* button);

Q_SIGNALS:
  void edited();
  void entered(); ///< the keyboard is here now

protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  QWidget* make_control();
  QComboBox* make_combo(const run::SpecField& field);
  void make_units();
  void show_unit();

  QString label_;
  std::vector<const run::SpecField*> fields_;
  std::size_t chosen_ = 0;
  // One of these.
  QLineEdit* line_ = nullptr;
  QComboBox* combo_ = nullptr;
  QCheckBox* check_ = nullptr;
  QWidget* control_ = nullptr; ///< the one that is there
  QComboBox* units_ = nullptr; ///< only with alternatives
  QLabel* unit_ = nullptr;     ///< lies in the control, at its end
  NoteLine* error_ = nullptr;
  QHBoxLayout* row_ = nullptr;
};

} // namespace batchscope::ui
