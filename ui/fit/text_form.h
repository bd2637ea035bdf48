#pragma once

#include <QJsonObject>
#include <QWidget>

#include <optional>

#include "core/run/run_spec.h"

namespace batchscope::ui {

class LabelledEdit;

/// A run in some texts of the command line. UI thread.
class TextForm : public QWidget {
  Q_OBJECT

public:
  /// A text of the form; `set` puts it into the spec and throws Error (input) for one that is not accepted.
  struct Field {
    QString key, name, help, text;
    QStringList choices;
    void (*set)(run::RunSpec& spec, const std::string& text);
  };

  TextForm(const QList<Field>& fields, int columns, QWidget* parent = nullptr);

  /// Nothing while a field has an error, which stands at the field.
  std::optional<run::RunSpec> value();
  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void changed();

private:
  const QList<Field> fields_;
  QList<LabelledEdit*> edits_;
};

TextForm* make_network_form(QWidget* parent); ///< of a built-in network
TextForm* make_program_form(QWidget* parent); ///< of a program of the user's own

} // namespace batchscope::ui
