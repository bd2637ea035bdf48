#include "ui/output/output_reader.h"

#include <QFile>
#include <QStringDecoder>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/descriptor.h"
#include "ui/texts/terminal_text.h"

namespace batchscope::ui {

/// State of reading a file. Used by the worker.
class OutputReader::File {
public:
  explicit File(const QString& name) : name_(QFile::encodeName(name)) {}

  /// `grows`: a program that writes too fast is shown from its newest piece on.
  OutputPart next(bool grows);

private:
  void begin(std::uint64_t position);
  void take(QByteArray bytes);
  static bool is_readable(int file, OutputPart& part);

  const QByteArray name_;
  bool begun_ = false;
  bool caught_up_ = false;
  bool within_line_ = false; ///< the next piece begins within one, whose rest is left out
  std::uint64_t position_ = 0;
  QStringDecoder decoder_{QStringDecoder::Utf8};
  TerminalText text_;
};

OutputPart OutputReader::File::next(bool grows) {
  OutputPart part;
  const Descriptor file(open(name_.constData(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); // it may name a pipe
  if (!is_readable(file.get(), part))
    return part;
  const std::uint64_t most = grows && caught_up_ ? piece_bytes : most_bytes;
  const std::uint64_t behind = grows && caught_up_ ? 8 * piece_bytes : UINT64_MAX;
  part.begins = !begun_ || part.bytes < position_ || part.bytes - position_ > behind;
  if (part.begins) {
    begin(part.bytes - std::min(part.bytes, most));
    part.cut = position_ > 0;
  }
  QByteArray bytes(static_cast<qsizetype>(std::min(part.bytes - position_, piece_bytes)), Qt::Uninitialized);
  const ssize_t count =
      pread(file.get(), bytes.data(), static_cast<std::size_t>(bytes.size()), static_cast<off_t>(position_));
  if (count < 0) {
    part.file = OutputPart::File::unreadable;
    part.error = QString::fromLocal8Bit(std::strerror(errno));
    return part;
  }
  bytes.truncate(count);
  position_ += static_cast<std::uint64_t>(count);
  part.complete = count == 0 || position_ >= part.bytes;
  caught_up_ = caught_up_ || part.complete;
  take(std::move(bytes));
  TerminalText::Change change = text_.take_change();
  part.from = change.from;
  part.lines = std::move(change.lines);
  return part;
}

/// Sets the size, or what is wrong with the file.
bool OutputReader::File::is_readable(int file, OutputPart& part) {
  struct stat info {};
  if (file < 0 || fstat(file, &info) != 0) {
    part.file = errno == ENOENT || errno == ENOTDIR ? OutputPart::File::missing : OutputPart::File::unreadable;
    part.error = QString::fromLocal8Bit(std::strerror(errno));
  } else if (!S_ISREG(info.st_mode)) {
    part.file = OutputPart::File::unreadable;
    part.error = tr("not a regular file");
  } else {
    part.bytes = static_cast<std::uint64_t>(info.st_size);
  }
  return part.file == OutputPart::File::present;
}

void OutputReader::File::begin(std::uint64_t position) {
  begun_ = true;
  position_ = position;
  within_line_ = position > 0;
  decoder_ = QStringDecoder(QStringDecoder::Utf8);
  text_ = TerminalText();
}

void OutputReader::File::take(QByteArray bytes) {
  if (std::exchange(within_line_, false)) { // unless that is a very long one
    const auto end = std::find_if(bytes.cbegin(), bytes.cend(), [](char c) { return c == '\n' || c == '\r'; });
    if (end != bytes.cend())
      bytes.remove(0, end + 1 - bytes.cbegin());
  }
  text_.write(QString(decoder_(bytes)));
}

OutputReader::OutputReader(QObject* parent) : QObject(parent) {
  next_.setSingleShot(true);
  connect(&next_, &QTimer::timeout, this, &OutputReader::request);
}

OutputReader::~OutputReader() = default;

void OutputReader::read(const QString& file, bool grows) {
  name_ = file;
  grows_ = grows;
  complete_ = file.isEmpty();
  caught_up_ = false;
  fell_behind_ = false;
  file_ = std::make_shared<File>(file);
  request();
}

void OutputReader::set_ended() {
  if (!std::exchange(grows_, false))
    return;
  if (fell_behind_)
    return read(name_, false); // what was passed over
  complete_ = name_.isEmpty();
  request();
}

void OutputReader::set_active(bool active) {
  active_ = active;
  request();
}

void OutputReader::request() {
  if (!active_ || complete_ || reading_)
    return;
  next_.stop();
  reading_ = true;
  worker_.post([this, file = file_, grows = grows_] {
    OutputPart part = file->next(grows);
    results_.post([this, file, grows, part = std::move(part)] {
      reading_ = false;
      if (file == file_)
        take(part, grows);
      else
        request();
    });
  });
}

void OutputReader::take(const OutputPart& part, bool grows) {
  const bool there = part.file == OutputPart::File::present;
  complete_ = !grows && (part.complete || !there);
  fell_behind_ = fell_behind_ || (caught_up_ && part.begins && part.cut);
  caught_up_ = caught_up_ || part.complete || !there;
  next_.start(caught_up_ && grows ? interval_ms : 0);
  Q_EMIT came(part);
}

} // namespace batchscope::ui

#include "moc_output_reader.cpp"
