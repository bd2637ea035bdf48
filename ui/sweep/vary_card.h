#pragma once

#include <optional>

#include "core/sweep/sweep_spec.h"
#include "ui/widgets/widgets.h"

class QMenu;
class QSpinBox;

namespace batchscope::ui {

class ValueRow;

/// The fields of a sweep that vary, with their values, and the number of repeats. UI thread.
class VaryCard : public Card {
  Q_OBJECT

public:
  explicit VaryCard(QWidget* parent = nullptr);

  /// A plan, all of which can be changed.
  void show_plan(const sweep::SweepSpec& spec);
  /// A stored sweep, to which values and repeats can be added.
  void show_stored(const sweep::SweepSpec& spec);
  /// The settings that all runs have were edited elsewhere.
  void show_base(const run::RunSpec& base);
  /// Takes over what varies, and the repeats; what is being typed counts as far as it is valid.
  void apply(sweep::SweepSpec& spec) const;
  bool has_error() const;
  /// An error of the whole plan, at the field that it names by its option; false if it names none of these.
  bool show_error(const QString& error);

Q_SIGNALS:
  void changed();

private:
  void show_spec(const sweep::SweepSpec& spec, bool stored);
  ValueRow* add_row(const sweep::Variation& variation);
  void fill_menu();
  void add_field(const std::string& field);
  void show_seeds();

  sweep::SweepSpec spec_; ///< as shown, without what was changed since
  bool stored_ = false;
  QVBoxLayout* fields_;
  QList<ValueRow*> rows_;
  QWidget* seeds_;
  QSpinBox* repeats_;
  QLabel* seed_range_;
  QPushButton* add_;
  QMenu* menu_;
};

} // namespace batchscope::ui
