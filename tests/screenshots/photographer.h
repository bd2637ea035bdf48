#pragma once

#include <QString>

#include <functional>

#include "ui/theme/theme.h"
#include "ui/window/main_window.h"
#include "ui/workbench/page.h"

/// Pictures of the window, for people to look at.
namespace batchscope::ui::pictures {

/// Ends the program with a message.
[[noreturn]] void fail(const QString& what);

/// Lets the window live until `done` holds; fails after ten minutes.
void until(const char* what, const std::function<bool()>& done);

/// Takes pictures of the window, each one light and one dark, into a folder: NAME-light SUFFIX.png.
class Photographer {
public:
  Photographer(MainWindow& window, Theme& theme, QString folder, QString suffix)
      : window_(window), theme_(theme), folder_(std::move(folder)), suffix_(std::move(suffix)) {}

  Page* page(const QString& key) const;
  void show(const QString& key) { window_.show_page(key); }
  /// The button that is seen with this text; fails without one.
  void click(const QString& text);
  template <typename Widget> Widget* find(const QString& name) { return window_.findChild<Widget*>(name); }

  /// The window as it is.
  void take(const QString& name) { take_widget(window_, name); }
  void take_widget(QWidget& widget, const QString& name);
  void take_page(const QString& key, const QString& name);
  /// A page in a large window and in the smallest one that is supported.
  void take_sizes(const QString& key, const QString& name);

private:
  MainWindow& window_;
  Theme& theme_;
  QString folder_;
  QString suffix_;
};

inline constexpr QSize window_size(1440, 900);

} // namespace batchscope::ui::pictures
