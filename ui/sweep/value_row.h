#pragma once

#include <QStringList>
#include <QWidget>

#include <optional>
#include <set>

#include "core/sweep/variation.h"

class QLineEdit;
class QPushButton;

namespace batchscope::ui {

class FlowLayout;
class NoteLine;

/// A field that varies: its values as chips, and an input that adds values as they are typed. UI thread.
class ValueRow : public QWidget {
  Q_OBJECT

public:
  explicit ValueRow(const std::string& field, QWidget* parent = nullptr);

  const std::string& field() const { return field_; }
  /// `fixed`: values that cannot be removed.
  void set_values(const sweep::Variation& variation, const std::set<std::string>& fixed);
  /// The values of the chips and those that are typed at the moment, if they are values.
  sweep::Variation variation() const;
  bool has_error() const { return !error_.isEmpty(); }
  /// An error that only the whole plan shows.
  void show_error(const QString& error);
  void edit(); ///< brings the keyboard to the input

Q_SIGNALS:
  void changed();
  void removed(); ///< its last value was removed

protected:
  bool eventFilter(QObject* watched, QEvent* event) override; // Delete on chips, and leaving the input

private:
  void make_chips();
  void remove(const QString& chip);
  void read_typed();
  void take_typed();
  QString chip_text(const std::string& value) const;

  const std::string field_;
  sweep::Variation variation_; ///< of the chips
  std::optional<sweep::Variation> typed_;
  std::set<std::string> fixed_;
  FlowLayout* flow_;
  QList<QPushButton*> chips_;
  QLineEdit* input_;
  NoteLine* note_;
  QString error_;
};

/// The values of both, numbers in ascending order; those of `more` that are there already are left out.
sweep::Variation joined(sweep::Variation values, const sweep::Variation& more);

} // namespace batchscope::ui
