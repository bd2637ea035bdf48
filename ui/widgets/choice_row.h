#pragma once

#include <QList>
#include <QWidget>

class QButtonGroup;
class QLabel;

namespace batchscope::ui {

class FlowLayout;

/// A question and its answers as buttons, of which exactly one is chosen; the arrow keys move between them. UI thread.
class ChoiceRow : public QWidget {
  Q_OBJECT

public:
  struct Choice {
    QString key;
    QString text;
  };

  ChoiceRow(const QString& question, const QList<Choice>& choices, QWidget* parent = nullptr);

  QString chosen() const; ///< its key
  /// Ignores an unknown key; emits changed() if it is another one.
  void choose(const QString& key);

Q_SIGNALS:
  void changed();

private:
  QList<Choice> choices_;
  QButtonGroup* buttons_;
};

} // namespace batchscope::ui
