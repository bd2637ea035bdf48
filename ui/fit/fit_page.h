#pragma once

#include "ui/memory/memory_predictor.h"
#include "ui/workbench/page.h"
#include "ui/workbench/workbench.h"

class QStackedWidget;

namespace batchscope::ui {

class ChoiceRow;
class FitCard;
class ProgramFit;
class TextForm;
class TransformerForm;

/// "Will it fit?": a transformer in numbers or of a config.json, a built-in network, or a program of the user's own, on
/// a GPU that need not be here. Nothing is trained or stored. UI thread.
class FitPage : public Page {
  Q_OBJECT

public:
  explicit FitPage(Workbench& workbench, QWidget* parent = nullptr);

  QString key() const override { return QStringLiteral("fit"); }
  QString title() const override { return tr("Will it fit"); }
  QString icon() const override { return QStringLiteral("fit"); }
  QList<QAction*> page_actions() const override { return {show_}; }
  bool shows_problem(const QString& problem) const override;
  QJsonObject state() const override;
  void restore(const QJsonObject& state) override;

protected:
  void showEvent(QShowEvent* event) override;

private:
  QWidget* make_header();
  QWidget* make_question();
  QWidget* make_answer();
  void show_subject();
  void answer(); ///< anew, if it is not a program that is asked about
  void answer_transformer();
  void request(run::RunSpec spec);
  void show_fit(const std::shared_ptr<const estimate::CardFit>& fit, const std::vector<estimate::Saving>& savings);

  Workbench& workbench_;
  MemoryPredictor predictor_;
  QAction* show_;
  ChoiceRow* subject_;
  TransformerForm* transformer_;
  TextForm* network_;
  TextForm* program_;
  QStackedWidget* forms_;
  FitCard* computed_; ///< the answer for the first two
  FitCard* tried_;    ///< and for the program
  ProgramFit* program_fit_;
};

} // namespace batchscope::ui
