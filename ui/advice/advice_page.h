#pragma once

#include "core/advice/advice.h"
#include "ui/findings/adviser.h"
#include "ui/workbench/page.h"
#include "ui/workbench/workbench.h"

class QComboBox;
class QLabel;
class QTableView;

namespace batchscope::ui {

class FindingsCard;
class QuestionsCard;
class SizeModel;
class TableModel;

/// Advice from documents and papers: four questions, the rows that apply with their sources, whole tables, and the
/// findings of the rules in the current run. UI thread.
class AdvicePage : public Page {
  Q_OBJECT

public:
  explicit AdvicePage(Workbench& workbench, QWidget* parent = nullptr);

  QString key() const override { return QStringLiteral("advice"); }
  QString title() const override { return tr("Advice"); }
  QString icon() const override { return QStringLiteral("advice"); }
  QList<QAction*> page_actions() const override { return {use_, copy_}; }
  QList<KeyGroup> key_groups() const override;
  QJsonObject state() const override;
  void restore(const QJsonObject& state) override;

protected:
  void showEvent(QShowEvent* event) override;

private:
  void make_actions();
  QWidget* make_header();
  QWidget* make_left();
  QWidget* make_sizes_card(QWidget* parent);
  QWidget* make_tables_card(QWidget* parent);
  void answer();   ///< the questions have changed
  void show_row(); ///< another row was selected
  void show_table();
  void use();
  void judge();
  void show_findings(const std::vector<advice::RunFindings>& findings);
  /// The selected row, if it can start a run; else what the rows say together.
  const std::optional<run::RunSpec>& proposed() const;
  const advice::SizeRow* selected() const;
  QString markdown() const;

  Workbench& workbench_;
  Adviser adviser_;
  std::unique_ptr<QObject> watching_; ///< context of the connections to the current run
  advice::Advice advice_;

  QAction* use_ = nullptr;
  QAction* copy_ = nullptr;
  QuestionsCard* questions_ = nullptr;
  SizeModel* sizes_ = nullptr;
  QTableView* size_table_ = nullptr;
  QLabel* disagreements_ = nullptr;
  QLabel* remarks_ = nullptr;
  QLabel* command_ = nullptr;
  QComboBox* which_table_ = nullptr;
  TableModel* table_ = nullptr;
  FindingsCard* findings_ = nullptr;
};

} // namespace batchscope::ui
