#pragma once

#include <QAction>
#include <QIcon>
#include <QKeySequence>
#include <QPushButton>

// Commands of pages for menus, command palette, keys and buttons. UI thread.
namespace batchscope::ui {

/// Creates an action of `owner`: its shortcut works while the focus is inside, and its tooltip shows it.
QAction* make_command(QWidget* owner, const QString& text, const QString& tip, const QKeySequence& keys = {},
                      const QIcon& icon = {});

/// An action's text without the mnemonic marks of menus.
QString plain_text(const QAction& action);

/// Enables or disables an action. `why_not` is the reason (`Select a run first`), shown in the tooltip, which must have
/// been set before, and in the command palette.
void allow(QAction& action, bool allowed, const QString& why_not);
/// Sets the reason of an action that other code enables and disables.
void set_why_not(QAction& action, const QString& why_not);
/// Empty while the action is enabled.
QString why_not(const QAction& action);

/// Connects a button to an action: shows its short text (QAction::iconText()) and tooltip, and follows its enabled
/// state.
QPushButton* bind(QPushButton* button, QAction* action);

} // namespace batchscope::ui
