#pragma once

#include <QFile>
#include <QTemporaryDir>

#include <zlib.h>

#include "core/base/error.h"
#include "core/data/dataset.h"

/// Real files for the readers' tests, and what the readers say about bad ones.
class DataFiles {
public:
  /// Writes a file and returns its path.
  std::string write(const char* name, const QByteArray& bytes) {
    QFile file(path(name));
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size())
      qFatal("cannot write %s", qPrintable(file.fileName()));
    return file.fileName().toStdString();
  }
  QString path(const char* name) const { return folder_.filePath(name); }

  static QByteArray gzip(const QByteArray& bytes) {
    QByteArray packed(static_cast<qsizetype>(compressBound(bytes.size())) + 64, '\0');
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(static_cast<qsizetype>(stream.total_out));
    deflateEnd(&stream);
    return packed;
  }

  /// The message with which opening is refused; "accepted" where it is not, "wrong kind: ..." where it is no bad input.
  static QString refusal(const std::string& text, const batchscope::data::DataOptions& options = {}) {
    try {
      batchscope::data::open_data(text, options);
      return "accepted";
    } catch (const batchscope::Error& e) {
      const QString message = QString::fromStdString(e.what());
      const bool one_line = e.kind() == batchscope::Error::Kind::input && !message.contains('\n');
      return one_line ? message : "wrong kind: " + message;
    }
  }

private:
  QTemporaryDir folder_;
};

inline std::vector<std::int64_t> numbers_below(std::int64_t count) {
  std::vector<std::int64_t> result;
  for (std::int64_t i = 0; i < count; ++i)
    result.push_back(i);
  return result;
}
