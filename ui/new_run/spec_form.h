#pragma once

#include <QHash>
#include <QJsonObject>
#include <QWidget>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/run/run_spec.h"
#include "core/run/spec_fields.h"
#include "ui/new_run/form_fields.h"

class QBoxLayout;

namespace batchscope::ui {

class FieldCard;
class FieldEditor;

/// A form for a whole RunSpec, built from the cards of form_cards(). Input is checked at once, and each error is shown
/// at its field. UI thread.
class SpecForm : public QWidget {
  Q_OBJECT

public:
  explicit SpecForm(FormKind kind = FormKind::network, QWidget* parent = nullptr);

  FormKind kind() const { return kind_; }
  void set_spec(const run::RunSpec& spec);
  /// Nothing while a field is invalid.
  const std::optional<run::RunSpec>& spec() const { return spec_; }
  /// Number of invalid fields, with the command of a program that is not given yet.
  int errors() const { return static_cast<int>(errors_.size()); }
  /// Shows an error that was detected elsewhere (a missing file) at its field until that is changed. spec() stays set,
  /// so the run can be tried again.
  void remark(const std::string& key, const QString& message);
  /// Moves the focus to the first invalid field and unfolds it if necessary.
  void go_to_error();
  /// Shows a line below a field while it has no error.
  void show_hint(const std::string& key, const QString& hint);

  /// False while no program is given.
  bool begun() const;

  FieldEditor* editor(const std::string& key) const;

  /// Texts of all fields, valid or not, by key; of alternatives, the selected one.
  QJsonObject texts() const;
  /// Fields that are not listed stay as they are; unknown ones are ignored.
  void set_texts(const QJsonObject& texts);
  /// The fields whose texts differ between the two.
  std::vector<FieldEditor*> differing(const QJsonObject& one, const QJsonObject& other) const;

  /// texts(), and which cards are unfolded.
  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void changed();
  void field_entered(const batchscope::run::SpecField& field);

protected:
  void resizeEvent(QResizeEvent* event) override;

private:
  void make_cards();
  FieldEditor* make_editor(const run::SpecField& field);
  void check();
  void check_edited(FieldEditor* editor);
  void show_errors();
  void show_placeholders(const run::RunSpec& spec);
  void unfold(const FieldEditor* editor);
  void unfold_what_differs();

  const FormKind kind_;
  QBoxLayout* columns_;
  std::vector<FieldEditor*> editors_; ///< in tab order
  std::map<const FieldEditor*, FieldCard*> cards_;
  std::optional<run::RunSpec> spec_;
  std::map<FieldEditor*, QString> errors_;
  std::map<FieldEditor*, QString> remarks_;
  bool filling_ = false;        ///< many fields are being set
  bool command_missed_ = false; ///< the user has tried to go on without a command
};

} // namespace batchscope::ui
