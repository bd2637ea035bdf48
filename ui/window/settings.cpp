#include "ui/window/settings.h"

#include <utility>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QSaveFile>

namespace batchscope::ui {

namespace {

const QString version_key = QStringLiteral("version");

QString translated(const char* text) {
  return QCoreApplication::translate("batchscope::ui::Settings", text);
}

/// The content of a file, or its error.
struct Reading {
  QJsonObject content;
  QString fault; ///< empty: none
};

Reading read(const QString& name) {
  QFile file(name);
  if (!file.exists())
    return {};
  if (!file.open(QIODevice::ReadOnly))
    return {{}, file.errorString()};
  QJsonParseError error;
  const QJsonDocument document = QJsonDocument::fromJson(file.readAll(), &error);
  if (error.error != QJsonParseError::NoError)
    return {{}, translated("the file is damaged (%1)").arg(error.errorString())};
  const int version = document.object().value(version_key).toInt(-1);
  if (version < 1)
    return {{}, translated("the file does not contain BatchScope settings")};
  if (version > Settings::current_version)
    return {{}, translated("the file was written by a newer version of BatchScope")};
  return {document.object(), {}};
}

} // namespace

Settings::Settings(QString file) : file_(std::move(file)) {}

QJsonObject Settings::load(QString* problem) const {
  const Reading reading = read(file_);
  problem->clear();
  if (reading.fault.isEmpty())
    return reading.content;
  const QString aside = file_ + QStringLiteral(".broken");
  QFile::remove(aside);
  *problem =
      QFile::rename(file_, aside)
          ? translated("The window settings could not be read: %1. They were moved to %2, and the window starts with "
                       "default settings.")
                .arg(reading.fault, QDir::toNativeSeparators(aside))
          : translated("The window settings in %2 could not be read: %1. The window starts with default settings.")
                .arg(reading.fault, QDir::toNativeSeparators(file_));
  return {};
}

QJsonObject Settings::peek() const {
  return read(file_).content;
}

bool Settings::save(const QJsonObject& content, QString* problem) const {
  QJsonObject whole = content;
  whole.insert(version_key, current_version);
  const QByteArray text = QJsonDocument(whole).toJson();
  QSaveFile file(file_);
  problem->clear();
  if (QDir().mkpath(QFileInfo(file_).path()) && file.open(QIODevice::WriteOnly) && file.write(text) == text.size() &&
      file.commit())
    return true;
  const QString reason =
      file.error() == QFileDevice::NoError ? translated("its folder cannot be created") : file.errorString();
  *problem = translated("The window settings cannot be saved in %1: %2. Free disk space or make the folder writable. "
                        "Until then, the next start uses the previously saved settings.")
                 .arg(QDir::toNativeSeparators(file_), reason);
  return false;
}

QString Settings::default_file() {
  const QString base = qEnvironmentVariable("XDG_CONFIG_HOME");
  // The base directory specification ignores relative paths.
  const QString folder = QDir::isAbsolutePath(base) ? base : QDir::homePath() + QStringLiteral("/.config");
  return folder + QStringLiteral("/batchscope/window.json");
}

} // namespace batchscope::ui
