#include "ui/theme/style_sheet.h"

#include <QApplication>
#include <QFontInfo>
#include <QFontMetricsF>
#include <QRegularExpression>

#include "ui/theme/theme.h"

namespace batchscope::ui {

namespace {

// @name is a colour, @name-size a font height, Nu is N sixteenths of a line of text; hairlines are 1px. A radius stays
// a little below half of the height: Qt draws larger ones as square corners. Widgets of ui/widgets are selected by
// class or by the property `kind`.
const char* const surfaces = R"(
QToolTip { background: @card; color: @text; border: 1px solid @border; padding: 3u 5u; }
QMainWindow::separator { background: @border; width: 1px; height: 1px; }
QStatusBar { background: @card; border-top: 1px solid @border; color: @dimmed; font-size: @caption-size; }
QStatusBar::item { border: none; }
QStatusBar QLabel { color: @dimmed; font-size: @caption-size; padding: 3u 8u; }
QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; }
QScrollArea { border: none; }
QSplitter::handle { background: transparent; }
QSplitter::handle:hover { background: @border; }

QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QDialog#command_palette, QDialog#key_sheet { background: @card; border: 1px solid @border; }
QFrame[kind="card"] { background: @card; border: 1px solid @border; border-radius: 8u; }
QFrame[kind="answer"] { background: @card; border: 1px solid @border; border-left: 4u solid @border;
  border-radius: 6u; }
QFrame[kind="answer"][tone="good"] { border-left-color: @good; }
QFrame[kind="answer"][tone="accent"] { border-left-color: @accent; }
QFrame[kind="strip"] { background: @card; border: none; border-top: 1px solid @border; }
QFrame[kind="note"] { background: @chosen; border: 1px solid @accent; border-radius: 8u; }
QFrame[kind="warning"] { background: @warning-tint; border: 1px solid @warning; border-radius: 8u; }
QFrame[kind="problem"] { background: @on_error; border: 1px solid @error; border-radius: 8u; }
QFrame[kind="rail"] { background: @card; border: none; border-right: 1px solid @border; }

QLabel[kind="title"] { font-size: @title-size; font-weight: 600; }
QLabel[kind="heading"] { font-weight: 600; }
QLabel[kind="dimmed"] { color: @dimmed; }
QLabel[kind="caption"] { color: @dimmed; font-size: @caption-size; }
QLabel[kind="value"] { font-weight: 600; }
QLabel[tone="accent"] { color: @accent; }
QLabel[tone="good"] { color: @good; }
QLabel[tone="warning"] { color: @warning; }
QLabel[tone="error"] { color: @error; }

QLabel[kind="bubble"] { background: @on_error; color: @error; border: 1px solid @error; border-radius: 6u;
  padding: 3u 7u; font-size: @caption-size; }
QLabel[kind="code"] { background: @window; border: 1px solid @border; border-radius: 6u; padding: 6u 8u; }
QLabel[kind="pill"] { border-radius: 9u; padding: 2u 9u; font-size: @caption-size; font-weight: 600; }
QLabel[kind="pill"][tone="neutral"] { background: @grid; color: @text; }
QLabel[kind="pill"][tone="accent"] { background: @chosen; color: @accent; }
QLabel[kind="pill"][tone="good"] { background: @good-tint; color: @good; }
QLabel[kind="pill"][tone="warning"] { background: @warning-tint; color: @warning; }
QLabel[kind="pill"][tone="error"] { background: @on_error; color: @error; }
)";

const char* const buttons = R"(
QPushButton { background: @card; color: @text; border: 1px solid @border; border-radius: 6u; padding: 5u 12u; }
QPushButton:hover { background: @grid; }
QPushButton:pressed { background: @chosen; }
QPushButton:focus { border-color: @accent; }
QPushButton:checked { background: @chosen; color: @accent; border-color: @accent; }
QPushButton:disabled { color: @faint; background: @window; }
QPushButton::menu-indicator { image: url(:/batchscope/icons/arrow-down-@mode.svg); width: 10u; height: 10u;
  subcontrol-origin: padding; subcontrol-position: center right; right: 7u; }
QPushButton[kind="filled"] { background: @accent; color: @on_accent; border-color: @accent; font-weight: 600; }
QPushButton[kind="filled"]:hover { background: @accent-hover; border-color: @accent-hover; }
QPushButton[kind="filled"]:pressed { background: @accent-pressed; border-color: @accent-pressed; }
QPushButton[kind="filled"]:focus { border: 2px solid @text; padding: 4u 11u; }
QPushButton[kind="filled"]:disabled { background: @border; border-color: @border; color: @faint; }
QPushButton[kind="chip"] { padding: 2u 7u; }
QPushButton[kind="chip"]:hover { border-color: @error; background: @card; }
QPushButton[kind="chip"][tone="accent"] { background: @chosen; color: @accent; border-color: @accent; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 6u; padding: 4u; }
QToolButton:hover { background: @grid; }
QToolButton:pressed, QToolButton:checked { background: @chosen; color: @accent; }
QToolButton:focus { border-color: @accent; }
QToolButton:disabled { color: @faint; }
QToolButton::menu-indicator { image: none; }
QToolButton[kind="overlay"] { background: @card; border-color: @grid; padding: 1u 8u; }
QToolButton[kind="overlay"]:hover { background: @grid; }
QToolButton[kind="quiet"] { color: @dimmed; padding: 2u 10u 0 10u; border: none; background: transparent; }
QToolButton[kind="quiet"]:hover { color: @text; }
QToolButton[kind="quiet"][tone="error"] { color: @error; }
QToolButton[kind="rail"] { border-radius: 0; border: none; border-left: 3u solid transparent;
  color: @dimmed; font-size: @caption-size; padding: 7u 3u 7u 0; }
QToolButton[kind="rail"]:hover { background: @grid; }
QToolButton[kind="rail"]:focus { background: @grid; color: @text; border: 2u solid @accent; border-left-width: 3u;
  padding: 5u 1u 5u 0; }
QToolButton[kind="rail"]:disabled { color: @faint; }
QToolButton[kind="rail"]:checked { background: @chosen; border-left-color: @accent; color: @accent; font-weight: 600; }
QToolButton[kind="rail"]:checked:focus { background: @chosen; border-color: @accent; }

QCheckBox, QRadioButton { spacing: 7u; }
QCheckBox::indicator, QRadioButton::indicator { width: 14u; height: 14u; border: 1px solid @dimmed;
  background: @card; }
QCheckBox::indicator { border-radius: 4u; }
QRadioButton::indicator { border-radius: 7u; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent;
  image: url(:/batchscope/icons/tick-@mode.svg); }
QCheckBox::indicator:indeterminate { background: @chosen; border-color: @accent; }
QRadioButton::indicator:checked { border-color: @accent; image: url(:/batchscope/icons/dot-@mode.svg); }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { border-color: @border; background: @window; }
QCheckBox::indicator:focus, QRadioButton::indicator:focus { border-color: @accent; }
)";

const char* const inputs = R"(
QLineEdit, QComboBox, QAbstractSpinBox { background: @card; color: @text; border: 1px solid @border;
  border-radius: 6u; padding: 4u 8u; selection-background-color: @accent; selection-color: @on_accent; }
QPlainTextEdit, QTextEdit { background: @card; color: @text; border: 1px solid @border; border-radius: 6u;
  padding: 2u; selection-background-color: @accent; selection-color: @on_accent; }
QPlainTextEdit[kind="code"] { background: @window; padding: 4u 6u; }
QPlainTextEdit[kind="log"], QPlainTextEdit[kind="log"]:focus { border: none; border-radius: 0; padding: 0 6u; }
QLineEdit[kind="chip"] { padding: 2u 7u; }
QLineEdit:hover, QComboBox:hover, QAbstractSpinBox:hover { border-color: @dimmed; }
QLineEdit:focus, QComboBox:focus, QAbstractSpinBox:focus, QPlainTextEdit:focus, QTextEdit:focus {
  border-color: @accent; }
QLineEdit:disabled, QComboBox:disabled, QAbstractSpinBox:disabled { color: @faint; background: @window; }
*[wrong="true"], *[wrong="true"]:focus { border-color: @error; }
QComboBox { combobox-popup: 0; padding-right: 22u; }
QComboBox QLineEdit, QAbstractSpinBox QLineEdit { border: none; padding: 0; background: transparent; }
QComboBox::drop-down { border: none; width: 22u; subcontrol-origin: padding; subcontrol-position: center right; }
QComboBox::down-arrow { image: url(:/batchscope/icons/arrow-down-@mode.svg); width: 10u; height: 10u; }
QComboBox QAbstractItemView { background: @card; border: 1px solid @border; padding: 3u; outline: none;
  selection-background-color: @chosen; selection-color: @text; }
QComboBox QAbstractItemView::item { min-height: 24u; padding: 0 6u; border-radius: 4u; }
QAbstractSpinBox { padding-right: 20u; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: none; background: transparent; width: 18u;
  subcontrol-origin: border; }
QAbstractSpinBox::up-button { subcontrol-position: top right; margin: 3u 3u 0 0; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; margin: 0 3u 3u 0; }
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover { background: @grid; }
QAbstractSpinBox::up-arrow { image: url(:/batchscope/icons/arrow-up-@mode.svg); width: 8u; height: 8u; }
QAbstractSpinBox::down-arrow { image: url(:/batchscope/icons/arrow-down-@mode.svg); width: 8u; height: 8u; }
QProgressBar { background: @border; border: none; border-radius: 2u; min-height: 6u; max-height: 6u; }
QProgressBar::chunk { background: @accent; border-radius: 2u; }
QSlider::groove:horizontal { background: @border; height: 4u; border-radius: 1u; }
QSlider::sub-page:horizontal { background: @accent; border-radius: 1u; }
QSlider::handle:horizontal { background: @card; border: 1px solid @dimmed; width: 13u; margin: -5u 0;
  border-radius: 6u; }
QSlider::handle:horizontal:hover, QSlider::handle:horizontal:focus { border-color: @accent; }
)";

const char* const lists = R"(
QAbstractItemView { background: @card; border: none; outline: none; alternate-background-color: @window;
  selection-background-color: @chosen; selection-color: @text; }
QTableView { gridline-color: @grid; }
QTableView::item, QTreeView::item { border: none; border-bottom: 1px solid @grid; padding: 0 8u; }
QTableView::item { padding: 0 13u 0 6u; }
QAbstractScrollArea::corner { background: transparent; border: none; }
QTableView::item:selected, QTreeView::item:selected { background: @chosen; color: @text; }
QListView::item { padding: 5u 8u; border-radius: 6u; }
QListView::item:selected { background: @chosen; color: @text; }
QHeaderView { background: @card; border: none; }
QHeaderView::section { background: @card; color: @dimmed; font-weight: 600; border: none;
  border-bottom: 1px solid @border; padding: 5u 9u; }
QHeaderView::section:hover { color: @text; }
QHeaderView::up-arrow { image: url(:/batchscope/icons/arrow-up-@mode.svg); width: 8u; height: 8u;
  subcontrol-position: center right; right: 1u; }
QHeaderView::down-arrow { image: url(:/batchscope/icons/arrow-down-@mode.svg); width: 8u; height: 8u;
  subcontrol-position: center right; right: 1u; }
QTableCornerButton::section { background: @card; border: none; }
QScrollBar { background: transparent; border: none; }
QScrollBar:vertical { width: 12u; }
QScrollBar:horizontal { height: 12u; }
QScrollBar::handle { background: @border; border-radius: 2u; margin: 3u; }
QScrollBar::handle:vertical { min-height: 28u; }
QScrollBar::handle:horizontal { min-width: 28u; }
QScrollBar::handle:hover { background: @dimmed; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
)";

const char* const menus = R"(
QMenuBar { background: @card; border-bottom: 1px solid @border; padding: 3u 4u; }
QMenuBar::item { background: transparent; padding: 4u 9u; border-radius: 5u; }
QMenuBar::item:selected, QMenuBar::item:pressed { background: @chosen; }
QMenu { background: @card; border: 1px solid @border; padding: 4u; }
QMenu::item { padding: 5u 26u 5u 10u; border-radius: 5u; }
QMenu::item:selected { background: @chosen; color: @text; }
QMenu::item:disabled { color: @faint; }
QMenu::icon { padding-left: 6u; }
QMenu::separator { height: 1px; background: @border; margin: 4u 6u; }
QMenu::indicator { width: 14u; height: 14u; margin-left: 5u; }
QMenu::indicator:checked { image: url(:/batchscope/icons/chosen-@mode.svg); }
QMenu::indicator:unchecked { image: none; }
QTabWidget::pane { border: none; border-top: 1px solid @border; }
QTabBar::tab { background: transparent; color: @dimmed; border: none; border-bottom: 2u solid transparent;
  padding: 6u 12u; }
QTabBar::tab:selected { color: @text; border-bottom-color: @accent; }
QTabBar::tab:hover { color: @text; }
QGroupBox { border: none; margin-top: 20u; font-weight: 600; }
QGroupBox::title { subcontrol-origin: margin; subcontrol-position: top left; }
)";

QColor mixed(const QColor& one, const QColor& other, float fraction) {
  const auto part = [fraction](float a, float b) { return a + (b - a) * fraction; };
  return QColor::fromRgbF(part(one.redF(), other.redF()), part(one.greenF(), other.greenF()),
                          part(one.blueF(), other.blueF()));
}

QColor color_named(const QString& name, const Theme& theme) {
  static const QList<std::pair<QString, Role>> roles{
      {"window", Role::window},  {"card", Role::card},     {"border", Role::border},     {"grid", Role::grid},
      {"text", Role::text},      {"dimmed", Role::dimmed}, {"accent", Role::accent},     {"on_accent", Role::on_accent},
      {"chosen", Role::chosen},  {"error", Role::error},   {"on_error", Role::on_error}, {"good", Role::good},
      {"warning", Role::warning}};
  for (const auto& [role_name, role] : roles) {
    if (role_name == name)
      return theme.color(role);
  }
  const auto color = [&theme](Role role) { return theme.color(role); };
  if (name == QLatin1String("faint"))
    return mixed(color(Role::text), color(Role::card), 0.6f);
  if (name == QLatin1String("good-tint"))
    return mixed(color(Role::card), color(Role::good), 0.12f);
  if (name == QLatin1String("warning-tint"))
    return mixed(color(Role::card), color(Role::warning), 0.12f);
  if (name == QLatin1String("accent-hover"))
    return mixed(color(Role::accent), color(Role::text), 0.12f);
  if (name == QLatin1String("accent-pressed"))
    return mixed(color(Role::accent), color(Role::text), 0.24f);
  return {};
}

QString font_size(double factor) {
  return QStringLiteral("%1px").arg(qRound(QFontInfo(QApplication::font()).pixelSize() * factor));
}

QString value_of(const QString& name, const Theme& theme) {
  if (name == QLatin1String("mode"))
    return theme.dark() ? QStringLiteral("dark") : QStringLiteral("light");
  if (name == QLatin1String("title-size"))
    return font_size(1.25);
  if (name == QLatin1String("caption-size"))
    return font_size(0.9);
  const QColor color = color_named(name, theme);
  Q_ASSERT_X(color.isValid(), "style sheet", qPrintable(name));
  return color.name();
}

} // namespace

QString style_sheet(const Theme& theme) {
  static const QRegularExpression placeholder(
      QStringLiteral("@(?<name>[a-z]+(?:[-_][a-z]+)*)|(?<number>\\d+)u(?![a-z])"));
  const double unit = QFontMetricsF(QApplication::font()).height() / 16;
  QString text;
  for (const char* part : {surfaces, buttons, inputs, lists, menus})
    text += QLatin1String(part);
  QString result;
  qsizetype done = 0;
  for (auto matches = placeholder.globalMatch(text); matches.hasNext();) {
    const auto match = matches.next();
    result += QStringView(text).mid(done, match.capturedStart() - done);
    const QString name = match.captured(QStringLiteral("name"));
    result += name.isEmpty()
                  ? QStringLiteral("%1px").arg(qMax(1, qRound(match.captured(QStringLiteral("number")).toInt() * unit)))
                  : value_of(name, theme);
    done = match.capturedEnd();
  }
  result += QStringView(text).mid(done);
  return result;
}

} // namespace batchscope::ui
