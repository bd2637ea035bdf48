#include "tests/screenshots/photographer.h"

#include <QElapsedTimer>
#include <QEventLoop>
#include <QTimer>

#include <cstdio>
#include <cstdlib>

#include "ui/widgets/widgets.h"

namespace batchscope::ui::pictures {

namespace {

constexpr QSize small_size(1024, 700);
constexpr int patience_ms = 600'000;
constexpr int look_interval_ms = 20;

/// Lets what was asked for by now be laid out and drawn.
void settle() {
  QElapsedTimer time;
  time.start();
  constexpr qint64 long_enough_ms = 700; // the slowest pace of any label or plot
  until("the window to settle", [&] { return time.elapsed() > long_enough_ms; });
}

} // namespace

void fail(const QString& what) {
  std::fprintf(stderr, "screenshots: %s\n", qPrintable(what));
  std::exit(1);
}

void until(const char* what, const std::function<bool()>& done) {
  QEventLoop loop;
  QTimer look;
  QTimer patience;
  QObject::connect(&look, &QTimer::timeout, &loop, [&] {
    if (done())
      loop.quit();
  });
  QObject::connect(&patience, &QTimer::timeout, &loop, [&] { fail(QString("waited in vain for %1").arg(what)); });
  look.start(look_interval_ms);
  patience.start(patience_ms);
  loop.exec();
}

Page* Photographer::page(const QString& key) const {
  for (auto* page : window_.findChildren<Page*>())
    if (page->key() == key)
      return page;
  fail("no page " + key);
}

void Photographer::click(const QString& text) {
  for (auto* button : window_.findChildren<QPushButton*>())
    if (button->text() == text && button->isVisible() && button->isEnabled())
      return button->click();
  fail("no button " + text);
}

void Photographer::take_widget(QWidget& widget, const QString& name) {
  for (const auto mode : {Theme::Mode::light, Theme::Mode::dark}) {
    theme_.set_mode(mode);
    settle();
    const QString file =
        QString("%1/%2-%3%4.png").arg(folder_, name, mode == Theme::Mode::dark ? "dark" : "light", suffix_);
    if (!widget.grab().save(file))
      fail("cannot write " + file);
    std::printf("%s\n", qPrintable(file));
    std::fflush(stdout);
  }
  theme_.set_mode(Theme::Mode::light);
}

void Photographer::take_page(const QString& key, const QString& name) {
  window_.findChild<Banner*>()->dismiss_note(); // of what led here
  window_.show_page(key);
  take(name);
}

void Photographer::take_sizes(const QString& key, const QString& name) {
  take_page(key, name);
  window_.resize(small_size);
  take(name + "-small");
  window_.resize(window_size);
}

} // namespace batchscope::ui::pictures
