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

class QBoxLayout;

namespace batchscope::ui {

class FieldCard;
class FieldEditor;

/// A form over the whole RunSpec, made from run::spec_fields(). What is typed is checked at once, each error stands
/// at its field. UI thread.
class SpecForm : public QWidget {
  Q_OBJECT

public:
  explicit SpecForm(QWidget* parent = nullptr);

  void set_spec(const run::RunSpec& spec);
  /// Nothing while a field is wrong.
  const std::optional<run::RunSpec>& spec() const { return spec_; }
  /// How many fields are wrong.
  int errors() const { return static_cast<int>(errors_.size()); }
  /// What was found out elsewhere (a file that is not there), shown at its field until something is changed there. It
  /// does not keep the spec from being tried again.
  void remark(const std::string& key, const QString& message);
  /// Puts the keyboard into the first field that is wrong, also where it was folded away.
  void go_to_error();

  FieldEditor* editor(const std::string& key) const;

  /// What stands in the fields, right or wrong, by their keys; of alternatives the one that is chosen.
  QJsonObject texts() const;
  /// Fields that are not named stay as they are; unknown ones are ignored.
  void set_texts(const QJsonObject& texts);
  /// The fields in which two such contents differ.
  std::vector<FieldEditor*> differing(const QJsonObject& one, const QJsonObject& other) const;

  /// The same, and what is unfolded.
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

  QBoxLayout* columns_;
  std::vector<FieldEditor*> editors_; ///< in the order of the keyboard
  std::map<const FieldEditor*, FieldCard*> cards_;
  std::optional<run::RunSpec> spec_;
  std::map<FieldEditor*, QString> errors_;
  std::map<FieldEditor*, QString> remarks_;
  bool filling_ = false; ///< many fields are set at once
};

} // namespace batchscope::ui
