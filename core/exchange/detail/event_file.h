#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// TensorBoard's event files (tensorflow/core/util/event.proto, and lib/io/record_writer.h for the records).
namespace batchscope::exchange::detail {

/// One scalar of a run at a step.
struct ScalarEvent {
  double wall_time = 0; ///< seconds since 1970
  std::int64_t step = 0;
  std::string tag;
  double value = 0; ///< stored as a 32-bit float
};

/// Takes what is in a record of an event file; functions that are empty are not called.
struct EventSink {
  std::function<void(const ScalarEvent&)> scalar;
  std::function<void(std::int64_t step)> restart;        ///< a session began: later steps of earlier ones are void
  std::function<void(std::string_view content)> hparams; ///< data of the plugin hparams, a message HParamsPluginData
};

/// Writes the records of an event file; the constructor writes the first one, which names the version.
class EventWriter {
public:
  EventWriter(std::ostream& out, double wall_time);
  void write(const ScalarEvent& event);

private:
  void record(std::string_view data);

  std::ostream& out_;
  std::string event_;   ///< kept to reuse its memory
  std::string summary_; ///< likewise
};

/// Reads the scalars of an event file: values of the kinds simple_value and tensor; others are skipped.
class EventReader {
public:
  /// `position`: of the first record to read; position() of an earlier reader.
  explicit EventReader(std::istream& in, std::uint64_t position = 0);

  /// Calls `take` with each scalar. A last record that is cut off ends the reading without an error: its writer is
  /// still at work. Throws Error (input) for a file that is none of these, and at a record whose checksum is wrong,
  /// naming its position.
  void read(const std::function<void(const ScalarEvent&)>& take);
  /// The same for the next record only; false at the end.
  bool read_record(const EventSink& sink);
  /// After an error: goes to the next record that can be one; false if there is none.
  bool skip_damaged();
  /// Bytes of the file before the next record.
  std::uint64_t position() const { return position_; }

private:
  std::optional<std::string> record();
  /// Bytes of the file behind a place in it.
  std::uint64_t bytes_behind(std::uint64_t place);

  std::istream& in_;
  std::uint64_t position_ = 0;
};

} // namespace batchscope::exchange::detail
