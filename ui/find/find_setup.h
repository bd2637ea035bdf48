#pragma once

#include <QJsonObject>
#include <QWidget>

#include <map>
#include <optional>
#include <string>

#include "core/run/run_spec.h"
#include "ui/engine/engine.h"

namespace batchscope::ui {

class LabelledEdit;
class NoteLine;

/// What is searched and how, in one row of fields; each says in place what is wrong with it. The rest of the spec is
/// what a new run's form or the last job had.
class FindSetup : public QWidget {
  Q_OBJECT

public:
  explicit FindSetup(QWidget* parent = nullptr);

  void set_spec(const run::RunSpec& spec);
  /// With the fields as far as they can be read.
  run::RunSpec spec() const;
  /// Its own option shows where the strategy has one.
  void set_strategy(const QString& strategy);
  /// Nothing where a field is wrong; which one, is shown then.
  std::optional<FindRequest> request();
  /// An error that came later, from the search itself, where it is about one of these fields.
  void show_error(const QString& message);

  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void changed();
  void all_settings_wanted(); ///< the form of a new run

private:
  LabelledEdit* add_field(const std::string& key);
  LabelledEdit* add_option(const QString& name, const QString& key, const QString& help);
  void check();
  bool read_spec(run::RunSpec& spec);
  void read_options(FindRequest& request, bool& good);

  run::RunSpec spec_;
  std::string strategy_ = "predictive";
  std::map<std::string, LabelledEdit*> fields_; ///< by the spec's keys
  LabelledEdit* start_ = nullptr;
  LabelledEdit* factor_ = nullptr;
  NoteLine* elsewhere_ = nullptr; ///< what is wrong in fields that are not here
};

} // namespace batchscope::ui
