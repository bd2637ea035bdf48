#pragma once

#include <QLineEdit>
#include <QStringList>
#include <QWidget>

class QLabel;
class QStringListModel;

namespace batchscope::ui {

/// An error text for display at its field: `--lr: 0 is not accepted` without the `--lr:`. If it is about all that was
/// typed, `--batch: "x" is not accepted; accepted: a whole number, at least 1` becomes `Enter a whole number, 1 or
/// more`; without `typed`, or if that has several parts, the error goes on saying what is wrong. The sentence begins
/// with a capital letter, unless it begins with what was typed.
QString without_option(QString error, const QString& typed = {});

class NoteLine;

/// A field in a row of a page: its name above, and its error or hint below. UI thread.
class LabelledEdit : public QWidget {
  Q_OBJECT

public:
  explicit LabelledEdit(const QString& name, QWidget* parent = nullptr);

  /// Choosing a completion emits textEdited(), like typing.
  QLineEdit* edit() const { return edit_; }
  QString text() const { return edit_->text().trimmed(); }
  /// Does not emit textEdited(); does nothing if the text is the same, so that the cursor stays.
  void set_text(const QString& text);
  /// One sentence, used as tooltip and for screen readers.
  void set_help(const QString& help);
  /// A line below the field, shown while there is no error.
  void set_hint(const QString& hint);
  /// Suggestions; other texts are accepted.
  void set_choices(const QStringList& choices);
  /// Empty: no error. Drops the name of an option or of the field from the beginning.
  void set_error(const QString& error);
  QString error() const { return error_; }

private:
  QLabel* name_;
  QLineEdit* edit_;
  NoteLine* beneath_;
  QStringListModel* choices_ = nullptr;
  QString help_;
  QString hint_;
  QString error_;
};

} // namespace batchscope::ui
