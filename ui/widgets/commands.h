#pragma once

#include <QAction>
#include <QIcon>
#include <QKeySequence>
#include <QPushButton>

// What pages can be told to do: by menu, command palette, keys and buttons. UI thread.
namespace batchscope::ui {

/// An action of `owner`: its keys work while the focus is in there, and its tooltip names them.
QAction* make_command(QWidget* owner, const QString& text, const QString& tip, const QKeySequence& keys = {},
                      const QIcon& icon = {});

/// An action's text as people read it, without the marks of menus.
QString plain_text(const QAction& action);

/// Lets an action be triggered or not. `why_not` says what is in the way (`Select a run first`): in the tooltip, which
/// must have been set before, and in the command palette.
void allow(QAction& action, bool allowed, const QString& why_not);
/// For actions that somebody else lets be triggered or not.
void set_why_not(QAction& action, const QString& why_not);
/// Empty while the action can be triggered.
QString why_not(const QAction& action);

/// Makes a button stand for an action: its short text (QAction::iconText()), its tooltip, whether it can be used.
QPushButton* bind(QPushButton* button, QAction* action);

} // namespace batchscope::ui
