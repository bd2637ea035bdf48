#pragma once

#include <QJsonObject>
#include <QString>

namespace batchscope::ui {

/// What the window keeps from one start to the next: one JSON file with a version. A broken or newer one is put aside
/// (renamed with `.broken`) and said, never fatal; written to a temporary name, then renamed.
class Settings {
public:
  static constexpr int current_version = 1;

  explicit Settings(QString file);

  /// What was kept; empty at the first start. `problem` says what was put aside, else it becomes empty.
  QJsonObject load(QString* problem) const;
  /// As load(), but a file that cannot be used stays where it is, unsaid.
  QJsonObject peek() const;
  /// False where it cannot be written; `problem` says why and what to do. Makes the folder.
  bool save(const QJsonObject& content, QString* problem) const;

  /// `$XDG_CONFIG_HOME/batchscope/window.json`, else `~/.config/batchscope/window.json`.
  static QString default_file();

private:
  QString file_;
};

} // namespace batchscope::ui
