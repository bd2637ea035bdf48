#pragma once

#include <QColor>
#include <QIcon>
#include <QList>
#include <QObject>

class QApplication;

namespace batchscope::ui {

class SystemScheme;

/// Purposes of colours. Red is used for out-of-memory and errors only, green for good results only, the accent for
/// actions and selections.
enum class Role {
  window,    ///< behind everything
  card,      ///< plots, tables, cards
  border,    ///< thin frames
  grid,      ///< of plots
  text,      ///< values, titles
  dimmed,    ///< names, help, units
  accent,    ///< actions
  on_accent, ///< text on the accent
  chosen,    ///< background of selections
  error,     ///< out of memory, errors
  on_error,  ///< background of an error banner
  good,      ///< answers
  warning,   ///< needs attention
  future,    ///< tint of planned steps
};

/// Colours, icons and fonts of the window, light and dark. One object, created first and passed to everything that
/// paints. UI thread.
class Theme : public QObject {
  Q_OBJECT

public:
  enum class Mode { system, light, dark };

  explicit Theme(QObject* parent = nullptr);

  /// Sets font, style, palette and style sheet of the application, the colours also after every change.
  void apply_to(QApplication& application);
  /// `system` follows the desktop's setting at run time: the portal, else the palette's lightness.
  void set_mode(Mode mode);
  Mode mode() const { return mode_; }
  bool dark() const { return dark_; }

  QColor color(Role role) const;
  /// Colours of series in order (Okabe and Ito's), lighter in dark mode; any index >= 0.
  QColor series(int index) const;
  /// Dash pattern of a series (solid for the first six), for users who cannot tell the colours apart.
  QList<qreal> dashes(int index) const;
  static constexpr int looks = 24; ///< number of distinct pairs of colour and dash pattern
  /// resources/icons/NAME.svg in the text's colour, or in the accent's if checked (QIcon::On).
  QIcon icon(const QString& name) const;

  /// A multiple of the font's line height, so that sizes follow font and scale: 1.0 is one line of text.
  static int lines(double count);

Q_SIGNALS:
  /// Colours or fonts have changed; custom painting must be redone.
  void changed();

protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

private:
  bool wanted_dark() const;
  void follow_system();
  void paint_application();

  SystemScheme* scheme_;
  Mode mode_ = Mode::system;
  bool dark_ = false;
  bool palette_dark_ = false; ///< from the desktop's palette, used without a portal
  bool painting_ = false;     ///< this object is changing the palette
  QApplication* application_ = nullptr;
};

} // namespace batchscope::ui
