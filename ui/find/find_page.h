#pragma once

#include <optional>

#include "ui/find/known_search.h"
#include "ui/workbench/page.h"
#include "ui/workbench/workbench.h"

class QAction;
class QCheckBox;
class QComboBox;
class QLabel;
class QPushButton;
class QStackedWidget;

namespace batchscope::ui {

class AnswerCard;
class ChipRow;
class EmptyState;
class FindSetup;
class MemoryCard;
class ProbeCard;
class SearchList;
class SearchPlots;

/// Which batch size? Asks for a search and shows it happen, with its answer, why it is the answer, and what to do with
/// it. Shows every search of this sitting, also those that other pages or the demo began, and those that the database
/// has. What is above an answer tells what that answer is for; what is searched next may be something else by then.
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

private:
  void make_actions();
  QWidget* make_header();
  QWidget* make_body();
  void follow_workbench();
  void watch(Job* job);

  void find();
  void show_search(const KnownSearch& search);
  void show_last_answer();
  void show_lists();
  /// The fields and the strategy are those of the search that is shown, unless somebody is changing them.
  void take_settings();
  bool searching() const; ///< what is shown still works
  void refresh();
  void show_size(std::optional<std::int64_t> batch);
  void show_chips();
  void show_header();
  void show_error(const QString& error);
  void show_failure(const QString& error);
  run::RunSpec answered(qint64 batch) const;

  Workbench& workbench_;
  KnownSearch shown_;
  bool error_shown_ = false; ///< of the search that is shown

  QAction* find_action_ = nullptr;
  QAction* cancel_action_ = nullptr;
  QAction* log_action_ = nullptr;
  QAction* setup_action_ = nullptr;

  ChipRow* chips_ = nullptr;
  QPushButton* change_ = nullptr;
  QLabel* activity_ = nullptr;
  QCheckBox* log_ = nullptr;
  QComboBox* strategy_ = nullptr;
  QPushButton* cancel_ = nullptr;
  QPushButton* find_ = nullptr;
  FindSetup* setup_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  EmptyState* empty_ = nullptr;
  EmptyState* failure_ = nullptr; ///< of a search that ran nothing
  QWidget* body_ = nullptr;
  SearchPlots* plots_ = nullptr;
  AnswerCard* answer_ = nullptr;
  ProbeCard* probes_ = nullptr;
  MemoryCard* memory_ = nullptr;
  SearchList* others_ = nullptr;  ///< that asked the same
  SearchList* earlier_ = nullptr; ///< all other ones
};

} // namespace batchscope::ui
