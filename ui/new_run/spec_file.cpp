#include "ui/new_run/spec_file.h"

#include <QCoreApplication>
#include <QFile>
#include <QSaveFile>

#include "core/base/error.h"
#include "core/base/open_database.h"

namespace batchscope::ui {

namespace {

constexpr qint64 max_bytes = 1'000'000;

Error file_error(const QString& file, const QString& why) {
  return input_error(QStringLiteral("%1: %2").arg(file, why).toStdString());
}

} // namespace

run::RunSpec read_spec_file(const QString& file) {
  refuse_open_database(file.toStdString());
  QFile source(file);
  if (!source.open(QIODevice::ReadOnly))
    throw file_error(file, source.errorString());
  if (source.size() > max_bytes)
    throw file_error(file, QCoreApplication::translate("SpecFile", "too large for a file with the settings of a run"));
  try {
    return run::run_spec_from_json(source.readAll().toStdString());
  } catch (const Error& error) {
    throw file_error(file, QString::fromUtf8(error.what()));
  }
}

void write_spec_file(const run::RunSpec& spec, const QString& file) {
  refuse_open_database(file.toStdString());
  QSaveFile target(file);
  const QByteArray text = QByteArray::fromStdString(run::to_json(spec)) + '\n';
  if (!target.open(QIODevice::WriteOnly) || target.write(text) != text.size() || !target.commit())
    throw file_error(file, target.errorString());
}

} // namespace batchscope::ui
