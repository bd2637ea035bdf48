#pragma once

#include <QLineEdit>
#include <QStringList>
#include <QWidget>

class QLabel;

namespace batchscope::ui {

/// A field of a page's row: its name above, what is wrong with it beneath, which takes no room while all is well.
/// UI thread.
class LabelledEdit : public QWidget {
  Q_OBJECT

public:
  explicit LabelledEdit(const QString& name, QWidget* parent = nullptr);

  QLineEdit* edit() const { return edit_; }
  QString text() const { return edit_->text().trimmed(); }
  /// Without textEdited(), and only where it differs, so that the cursor stays.
  void set_text(const QString& text);
  /// One sentence: as tooltip and for screen readers.
  void set_help(const QString& help);
  /// Texts to begin with; others are accepted.
  void set_choices(const QStringList& choices);
  /// Empty: none. The name of an option before it is left out.
  void set_error(const QString& error);
  QString error() const;

private:
  QLabel* name_;
  QLineEdit* edit_;
  QLabel* error_;
};

} // namespace batchscope::ui
