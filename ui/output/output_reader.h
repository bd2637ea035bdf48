#pragma once

#include <QObject>
#include <QStringList>
#include <QTimer>

#include <cstdint>
#include <memory>

#include "ui/threads/ui_queue.h"
#include "ui/threads/worker_thread.h"

namespace batchscope::ui {

/// A piece of a program's output, in lines as a terminal shows them.
struct OutputPart {
  enum class File { missing, unreadable, present };
  File file = File::present;
  QString error;           ///< why it is unreadable
  std::uint64_t bytes = 0; ///< size of the file
  bool begins = false;     ///< all lines before are void: the first piece, or the file was emptied
  bool cut = false;        ///< of a piece that begins: the file has more in front of it
  qint64 from = 0;         ///< lines from this number on, counted from 0, are now these
  QStringList lines;
  bool complete = false; ///< nothing more was written so far
};

/// Reads the file to which a program writes its output, from the last megabytes on, and follows it while it grows. A
/// thread of its own reads; pieces come as signals, each after the one before was handled. UI thread.
class OutputReader : public QObject {
  Q_OBJECT

public:
  static constexpr std::uint64_t most_bytes = 2'000'000; ///< that are read of an old output
  static constexpr std::uint64_t piece_bytes = 32'000;   ///< that come at once
  static constexpr int interval_ms = 300;

  explicit OutputReader(QObject* parent = nullptr);
  ~OutputReader() override;

  /// Begins again, with this file; empty: none. `grows`: its program still runs.
  void read(const QString& file, bool grows);
  /// The program has ended: reads what is left.
  void set_ended();
  /// Whether pieces are of use at present; it goes on where it was.
  void set_active(bool active);

Q_SIGNALS:
  void came(const batchscope::ui::OutputPart& part);

private:
  class File;

  void request();
  void take(const OutputPart& part, bool grows);

  QString name_;
  bool grows_ = false;
  bool active_ = true;
  bool complete_ = false;      ///< all was read of a program that has ended
  bool reading_ = false;       ///< a request is under way
  bool caught_up_ = false;     ///< once
  bool fell_behind_ = false;   ///< the program wrote faster than the reader shows it
  std::shared_ptr<File> file_; ///< its content is used by the worker only
  QTimer next_;
  UiQueue results_;
  WorkerThread worker_; ///< last: its tasks use all of the above
};

} // namespace batchscope::ui
