#pragma once

#include <memory>
#include <optional>

#include "ui/new_run/run_panel.h"

namespace batchscope::program {
struct Tryout;
}

namespace batchscope::ui {

class FitCard;
class Job;
class LadderCard;
class ProgramFit;
class TestCard;
class Workbench;

/// The form of a program of the user's own, with its test, what works on it, and what to add to a plain loop. UI
/// thread.
class ProgramPanel : public RunPanel {
  Q_OBJECT

public:
  explicit ProgramPanel(Workbench& workbench, QWidget* parent = nullptr);

  void show_form() override;
  bool shows_problem(const QString& problem) const override;
  /// Starts the test, or ends the one that works.
  void test();
  bool testing() const { return job_ != nullptr; }

Q_SIGNALS:
  void testing_changed();

private:
  void ask_for_folder();
  void show_job();
  void show_ladder();
  QString placeholder_hint() const;

  Workbench& workbench_;
  LadderCard* ladder_;
  FitCard* fit_;
  ProgramFit* program_fit_;
  TestCard* test_;
  Job* job_ = nullptr;                           ///< the test that works or waits
  std::optional<run::ProgramSpec> tested_;       ///< the program that was tested last
  std::shared_ptr<const program::Tryout> tried_; ///< what it has shown
  QString failure_;                              ///< why the last test could not be made; empty: it could
};

} // namespace batchscope::ui
