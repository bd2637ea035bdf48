#pragma once

#include <QJsonObject>
#include <QString>

namespace batchscope::ui {

/// Settings of the window between starts: one versioned JSON file. An invalid or newer file is renamed to `.broken` and
/// reported, never fatal. Saving writes to a temporary name, then renames.
class Settings {
public:
  static constexpr int current_version = 1;

  explicit Settings(QString file);

  /// The saved settings; empty at the first start. `problem` reports a file that was renamed, else it becomes empty.
  QJsonObject load(QString* problem) const;
  /// The same, but leaves an unusable file where it is and reports nothing.
  QJsonObject peek() const;
  /// Creates the folder if missing. Returns false if saving fails; `problem` says why and what to do.
  bool save(const QJsonObject& content, QString* problem) const;

  /// `$XDG_CONFIG_HOME/batchscope/window.json`, else `~/.config/batchscope/window.json`.
  static QString default_file();

private:
  QString file_;
};

} // namespace batchscope::ui
