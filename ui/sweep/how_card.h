#pragma once

#include <map>

#include "ui/sweep/sweep_view.h"
#include "ui/widgets/widgets.h"

class QCheckBox;

namespace batchscope::ui {

class LabelledEdit;

/// Settings common to all runs of a sweep, and how the runs are chosen and made. UI thread.
class HowCard : public Card {
  Q_OBJECT

public:
  explicit HowCard(QWidget* parent = nullptr);

  void show_plan(const sweep::SweepSpec& spec);
  void show_stored(const sweep::SweepSpec& spec);
  /// `workers`: most runs that have trained at one time.
  void show_runs(std::size_t runs, std::int64_t workers);
  /// The plan was edited: what varies is not set here, what no longer does is.
  void show_edited(const sweep::SweepSpec& spec);
  /// Takes over the settings, the condition and the number of random runs, as far as they are valid; the rest of `spec`
  /// stays.
  void apply(sweep::SweepSpec& spec) const;
  bool has_error() const;
  bool show_error(const QString& error); ///< as in VaryCard

Q_SIGNALS:
  void changed();
  void base_wanted(); ///< the common settings are to be changed

private:
  void show_spec(const sweep::SweepSpec& spec, bool stored);
  void show_facts();
  struct Setting {
    LabelledEdit* edit;
    std::vector<const char*> fields; ///< of a RunSpec, one of which it sets
    QString (*text)(const run::RunSpec&);
    void (*set)(run::RunSpec&, const QString& text); ///< throws Error (input)
    bool for_programs;
  };
  void show_settings(bool all);
  void check_random();
  void check_settings();
  /// Sets what was typed; returns the error of each setting that is not valid, which stays as it is in `base`.
  std::map<LabelledEdit*, QString> take_settings(run::RunSpec& base) const;

  sweep::SweepSpec spec_;
  bool stored_ = false;
  std::size_t runs_ = 0;
  std::int64_t workers_ = 1;
  FactList* facts_;
  LabelledEdit* model_;
  LabelledEdit* length_; ///< of each run
  LabelledEdit* budget_;
  std::vector<Setting> settings_;
  QPushButton* change_;
  LabelledEdit* only_;
  LabelledEdit* random_;
  QCheckBox* weak_;
};

} // namespace batchscope::ui
