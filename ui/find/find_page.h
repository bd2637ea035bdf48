#pragma once

#include <memory>
#include <optional>

#include "ui/find/goal_reader.h"
#include "ui/find/known_search.h"
#include "ui/memory/memory_predictor.h"
#include "ui/workbench/page.h"
#include "ui/workbench/workbench.h"

class QAction;
class QStackedWidget;

namespace batchscope::ui {

class AnswerCard;
class EmptyState;
class FindHeader;
class FindSetup;
class GoalCard;
class MemoryCard;
class ProbeCard;
class SearchList;
class SearchPlots;

/// The page for finding a batch size: starts a search and shows its progress, its answers with reasons, and what to do
/// with them. Lists every search of this session of the program, including those started by other pages or the demo,
/// and those in the database. The chips above an answer describe that answer's search; the settings for the next search
/// may differ.
class FindPage : public Page {
  Q_OBJECT

public:
  explicit FindPage(Workbench& workbench, QWidget* parent = nullptr);

  QString key() const override { return QStringLiteral("find"); }
  QString title() const override { return tr("Find"); }
  QString icon() const override { return QStringLiteral("find"); }
  QList<QAction*> page_actions() const override;
  QList<KeyGroup> key_groups() const override;
  QJsonObject state() const override;
  void restore(const QJsonObject& state) override;

protected:
  void showEvent(QShowEvent* event) override;

private:
  void make_actions();
  QWidget* make_body();
  void follow_workbench();
  void watch(Job* job);

  void find();
  void show_search(const KnownSearch& search);
  void show_last_answer();
  void show_lists();
  /// Takes over fields and strategy of the search that is shown, unless the user is editing them.
  void take_settings();
  /// The next search is of the same program as the one that is shown, and of none beside a search of a built-in
  /// network.
  void keep_to_program();
  bool of_program() const; ///< the next search
  void show_setup();
  void reveal_setup();    ///< where the user can correct it
  void change_settings(); ///< as the user wants to
  bool searching() const; ///< the search that is shown is running
  void refresh();
  void show_size(std::optional<std::int64_t> batch);
  /// Predicts the answer before a search; only while the settings are seen.
  void request_prediction();
  void show_prediction(const std::shared_ptr<const run::MemoryPrediction>& prediction);
  void show_settings();
  void show_header();
  /// Reads the results of training the sizes of the search that is shown.
  void read_sizes();
  void train_sizes(const QString& goal);
  void show_error(const SearchView& failed);
  void show_failure(const QString& error);
  run::RunSpec answered(qint64 batch) const;

  Workbench& workbench_;
  MemoryPredictor predictor_;
  GoalReader goal_reader_;
  KnownSearch shown_;
  bool error_shown_ = false; ///< of the search that is shown

  QAction* find_action_ = nullptr;
  QAction* cancel_action_ = nullptr;
  QAction* log_action_ = nullptr;
  QAction* setup_action_ = nullptr;

  FindHeader* header_ = nullptr;
  FindSetup* setup_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  EmptyState* empty_ = nullptr;
  EmptyState* failure_ = nullptr; ///< for a search without any trial
  QWidget* body_ = nullptr;
  SearchPlots* plots_ = nullptr;
  AnswerCard* answer_ = nullptr;
  GoalCard* goal_ = nullptr;
  ProbeCard* probes_ = nullptr;
  MemoryCard* memory_ = nullptr;
  SearchList* others_ = nullptr;  ///< other searches of the same question
  SearchList* earlier_ = nullptr; ///< all other searches
};

} // namespace batchscope::ui
