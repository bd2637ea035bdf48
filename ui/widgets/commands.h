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

/// Makes a button stand for an action: its short text (QAction::iconText()), its tooltip, whether it can be used.
QPushButton* bind(QPushButton* button, QAction* action);

} // namespace batchscope::ui
