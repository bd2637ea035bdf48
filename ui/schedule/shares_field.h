#pragma once

#include <string>
#include <vector>

#include "core/run/run_spec.h"
#include "ui/widgets/labelled_edit.h"

namespace batchscope::ui {

/// The shares of several data streams in the batch, as text (schedule::ShareSchedule), with the error that it has for
/// the streams of a run. Hidden for a run without several streams. UI thread.
class SharesField : public LabelledEdit {
  Q_OBJECT

public:
  explicit SharesField(QWidget* parent = nullptr);

  /// Shows the shares that this run has now, unless the user is typing others.
  void show_shares(const run::RunSpec& spec, const std::string& shares, bool changeable);
  void show_none(); ///< no run, or one without streams
  /// Whether the text is not that of the run; it may be wrong.
  bool changed() const;
  /// Goes back to the shares that the run has.
  void discard();

Q_SIGNALS:
  void typed();
  void entered();   ///< Return, with a text that is right
  void dismissed(); ///< Escape

protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  void check();

  std::vector<std::string> names_;
  std::string clock_;
  QString present_; ///< shown last, before the user typed
};

} // namespace batchscope::ui
