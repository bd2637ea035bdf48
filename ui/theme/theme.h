#pragma once

#include <QColor>
#include <QIcon>
#include <QList>
#include <QObject>

class QApplication;

namespace batchscope::ui {

class SystemScheme;

/// What a colour means. Red is for running out of memory and errors only, green for good only, the accent for what can
/// be acted on or is chosen.
enum class Role {
  window,    ///< behind everything
  card,      ///< plots, tables, cards
  border,    ///< thin frames
  grid,      ///< of plots
  text,      ///< values, titles
  dimmed,    ///< names, help, units
  accent,    ///< what can be acted on
  on_accent, ///< text upon it
  chosen,    ///< background of what is chosen
  error,     ///< out of memory, errors
  on_error,  ///< background of an error banner
  good,      ///< answers
  warning,   ///< what deserves a look
  future,    ///< tint of what has not happened yet
};

/// Colours, icons and fonts of the window, light and dark. One object, made first and given to all that paint; UI
/// thread.
class Theme : public QObject {
  Q_OBJECT

public:
  enum class Mode { system, light, dark };

  explicit Theme(QObject* parent = nullptr);

  /// Puts style, palette and style sheet on the application, now and whenever they change.
  void apply_to(QApplication& application);
  /// `system` follows the desktop's setting while the program runs: its portal, else the palette's lightness.
  void set_mode(Mode mode);
  Mode mode() const { return mode_; }
  bool dark() const { return dark_; }

  QColor color(Role role) const;
  /// Colours of series in their order (Okabe and Ito's), lighter on dark; any index >= 0.
  QColor series(int index) const;
  /// Dash pattern that goes with a series of that index (solid for the first six), for eyes that cannot tell colours.
  QList<qreal> dashes(int index) const;
  static constexpr int looks = 24; ///< pairs of colour and dash pattern that can be told apart
  /// resources/icons/NAME.svg in the text's colour, in the accent's where it is chosen (QIcon::On).
  QIcon icon(const QString& name) const;

  /// A multiple of the font's height, so that sizes follow font and scale: 1.0 is one line of text.
  static int lines(double count);

Q_SIGNALS:
  /// Colours or fonts are others now: what paints itself paints anew.
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
  bool palette_dark_ = false; ///< by the desktop's palette, where no portal tells
  bool painting_ = false;     ///< the palette changes because of ourselves
  QApplication* application_ = nullptr;
};

} // namespace batchscope::ui
