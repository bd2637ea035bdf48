#pragma once

#include <array>

#include "ui/find/search_view.h"
#include "ui/widgets/widgets.h"

class QLabel;
class QPushButton;

namespace batchscope::ui {

/// The sizes that a search found, each with its reason and actions; or why there are none.
class AnswerCard : public Card {
  Q_OBJECT

public:
  explicit AnswerCard(QWidget* parent = nullptr);

  void show_search(const SearchView& view);

Q_SIGNALS:
  void train_wanted(qint64 batch);
  void edit_wanted(qint64 batch);
  void settings_wanted();
  void again_wanted(); ///< the same search, because other work disturbed its timings

private:
  enum Answer { largest, safe, recommended, automatic, answer_count };
  struct Row {
    QWidget* widget = nullptr;
    QLabel* name = nullptr;
    QLabel* value = nullptr;
    QLabel* reason = nullptr;
    QPushButton* train = nullptr;
    QPushButton* edit = nullptr;
    std::optional<std::int64_t> batch;
  };

  Row make_row(Answer answer);
  void fill(Answer answer, std::optional<std::int64_t> batch, const QString& reason, bool final);
  void show_answers(const SearchView& view);
  void show_evaluation(const search::SearchResult* evaluation);
  void show_outcome(const SearchView& view);

  std::array<Row, answer_count> rows_;
  QPushButton* again_ = nullptr; ///< shown if the timings leave a doubt
  QLabel* evaluation_ = nullptr; ///< of a program, if its search was asked for it
  QWidget* outcome_ = nullptr;   ///< shown if there is no answer
  QLabel* outcome_text_ = nullptr;
  QLabel* outcome_help_ = nullptr;
  QPushButton* settings_ = nullptr;
};

} // namespace batchscope::ui
