#pragma once

#include <QComboBox>
#include <QTabBar>
#include <QTableView>

#include "ui/live/live_page.h"
#include "ui/page_test.h"

namespace batchscope::ui::test {

class LiveHere : public PageHere<LivePage> {
public:
  LiveHere() : PageHere({1440, 880}) {}

  QTableView& table() { return *named<QTableView>("events"); }

  QTabBar& tabs() { return *named<QTabBar>("run-tabs"); }

  /// The button that is seen with this text.
  QPushButton* button(const QString& text) {
    for (auto* button : page().findChildren<QPushButton*>()) {
      if (button->text() == text && button->isVisible())
        return button;
    }
    return nullptr;
  }

  QAction* action(const QString& text) {
    for (QAction* action : page().page_actions()) {
      if (action->text() == text)
        return action;
    }
    return nullptr;
  }
};

} // namespace batchscope::ui::test
