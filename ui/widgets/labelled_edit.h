#pragma once

#include <QLineEdit>
#include <QStringList>
#include <QWidget>

class QLabel;
class QStringListModel;

namespace batchscope::ui {

/// An error as it stands beneath its field, which says itself which option it is: `--lr: 0 is not accepted` without the
/// `--lr:`.
QString without_option(QString error);

class NoteLine;

/// A field of a page's row: its name above, what is wrong with it, or a hint, in the line beneath. UI thread.
class LabelledEdit : public QWidget {
  Q_OBJECT

public:
  explicit LabelledEdit(const QString& name, QWidget* parent = nullptr);

  /// What is chosen of the completions counts as typed: textEdited().
  QLineEdit* edit() const { return edit_; }
  QString text() const { return edit_->text().trimmed(); }
  /// Without textEdited(), and only where it differs, so that the cursor stays.
  void set_text(const QString& text);
  /// One sentence: as tooltip and for screen readers.
  void set_help(const QString& help);
  /// A line beneath the field while nothing is wrong.
  void set_hint(const QString& hint);
  /// Texts to begin with; others are accepted.
  void set_choices(const QStringList& choices);
  /// Empty: none. The name of an option, or of the field, before it is left out.
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
