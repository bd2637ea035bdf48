#pragma once

#include <QJsonObject>
#include <QWidget>

#include <map>
#include <optional>
#include <string>

#include "core/run/run_spec.h"
#include "ui/jobs/job_queue.h"

class QLabel;

namespace batchscope::ui {

class LabelledEdit;
class NoteLine;

/// Settings of a search in one row of fields, with error messages in place. The rest of the spec comes from the new run
/// form or the last job. A program of the user's own is named by its command and folder.
class FindSetup : public QWidget {
  Q_OBJECT

public:
  explicit FindSetup(QWidget* parent = nullptr);

  void set_spec(const run::RunSpec& spec);
  /// The spec, with all fields that are valid.
  run::RunSpec spec() const;
  /// Also shows the strategy's own option, if it has one.
  void set_strategy(const QString& strategy);
  /// Nothing if a field is invalid, which then shows its error.
  std::optional<FindRequest> request();
  /// Shows an error of the search itself at its field, if it is about one of these fields.
  void show_error(const std::string& field, const QString& message);
  /// Shows a prediction of the answer before a search; empty: there is none.
  void show_prediction(const QString& text);

  QJsonObject state() const;
  void restore(const QJsonObject& state);

Q_SIGNALS:
  void changed();
  void all_settings_wanted(); ///< opens the new run form

private:
  LabelledEdit* add_field(const std::string& key);
  LabelledEdit* add_option(const QString& name, const QString& key, const QString& help);
  void show_fields();
  void check();
  bool read_spec(run::RunSpec& spec);
  void read_options(FindRequest& request, bool& good);

  run::RunSpec spec_;
  std::string strategy_ = "predictive";
  std::map<std::string, LabelledEdit*> fields_; ///< by spec key
  // Fields of the user's own program, instead of model and data; read-only.
  LabelledEdit* command_ = nullptr;
  LabelledEdit* folder_ = nullptr;
  QWidget* all_ = nullptr; ///< leads to the rest of the settings; a program has the page's own button
  LabelledEdit* start_ = nullptr;
  LabelledEdit* factor_ = nullptr;
  QLabel* prediction_ = nullptr;
  NoteLine* elsewhere_ = nullptr; ///< errors of fields that are not here
};

} // namespace batchscope::ui
