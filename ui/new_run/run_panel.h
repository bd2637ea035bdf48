#pragma once

#include <QJsonObject>
#include <QWidget>

#include "core/run/run_spec.h"
#include "ui/new_run/spec_form.h"

class QScrollArea;
class QVBoxLayout;

namespace batchscope::ui {

class FieldHelp;

/// A form and, beside it, what is known about the run that it describes. Only the form scrolls with its fields: the
/// help for a field stays beside it. UI thread.
class RunPanel : public QWidget {
  Q_OBJECT

public:
  explicit RunPanel(FormKind kind, QWidget* parent = nullptr);

  SpecForm& form() { return *form_; }
  const SpecForm& form() const { return *form_; }

  /// The form has changed.
  virtual void show_form() {}
  /// Whether the panel itself shows this problem.
  virtual bool shows_problem(const QString& /*problem*/) const { return false; }
  /// Title of the job for which a run would have to wait; empty: none.
  virtual void show_waiting(const QString& /*job*/) {}

protected:
  /// Shows a card of the main column, once it has been laid out.
  void scroll_to(QWidget& card);
  /// Places its cards; call it once, with what is below the form (or null) and the cards beside it, above the help.
  void lay_out(QWidget* below, const QList<QWidget*>& side);

private:
  SpecForm* form_;
  QScrollArea* scroll_ = nullptr;
  FieldHelp* help_;
};

} // namespace batchscope::ui
