#include "core/store/detail/run_buffer.h"

#include <algorithm>

namespace batchscope::store::detail {

namespace {

std::unique_ptr<FrameBuffer> new_frame(const std::vector<std::string>& names) {
  auto frame = std::make_unique<FrameBuffer>();
  for (const std::string& name : names)
    frame->series.push_back({.id = 0, .name = name, .summary = {}, .values = {}});
  return frame;
}

template <typename T> void drop_front(std::vector<T>& values, std::size_t n) {
  values.erase(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n));
}

} // namespace

void FrameBuffer::add(std::int64_t step, const std::vector<double>& values) {
  steps.push_back(step);
  for (std::size_t i = 0; i < series.size(); ++i) {
    series[i].values.push_back(values[i]);
    series[i].summary.add(step, values[i]);
  }
}

RunBuffer::RunBuffer(std::int64_t id, const NewRun& run, std::size_t standstill)
    : id(id), on_command(run.on_command), on_trouble(run.on_trouble),
      queue(standstill, telemetry::RecordQueue::usual_capacity, run.ending) {
  progress_.status = run.status;
  progress_.batch = run.batch;
}

void RunBuffer::drain() {
  queue.drain([this](telemetry::Entry&& entry) {
    std::visit([this](auto&& value) { take(std::move(value)); }, std::move(entry));
    ++entries_;
  });
}

void RunBuffer::take(const telemetry::StepRecord& record) {
  if (!steps_) {
    frames_.push_back(new_frame(telemetry::step_series()));
    steps_ = frames_.back().get();
  }
  telemetry::row(record, row_);
  steps_->add(record.step, row_);
  for (const auto& [name, value] : record.more)
    add_other(record.step, name, value);
  progress_.batch = progress_.batch.value_or(record.batch);
  progress_.steps = record.step;
  progress_.examples_seen = record.examples_seen;
  progress_.epoch = record.epoch;
  progress_.train_coverage = record.train_coverage;
  progress_.loss = record.loss;
  progress_.peak_bytes =
      std::max(progress_.peak_bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(0, record.peak_bytes)));
  clock_.take(record);
  take_time();
}

void RunBuffer::take(telemetry::Event&& event) {
  for (const auto& [name, value] : event.values) {
    add_other(event.step, name, value);
    if (name == "validation_loss")
      progress_.validation_loss = value;
    if (name == "validation_accuracy")
      progress_.validation_accuracy = value;
  }
  clock_.take(event);
  take_time();
  progress_.oom_events += event.kind == "oom" ? 1 : 0;
  events_.push_back(std::move(event));
}

void RunBuffer::take_time() {
  progress_.seconds = clock_.seconds();
  progress_.examples_per_second = clock_.examples_per_second();
}

// Each other series is a frame of its own: nothing is known of which of them come together.
void RunBuffer::add_other(std::int64_t step, const std::string& name, double value) {
  FrameBuffer*& frame = others_[name];
  if (!frame) {
    const auto& taken = telemetry::step_series();
    const bool is_taken = std::find(taken.begin(), taken.end(), name) != taken.end();
    frames_.push_back(new_frame({is_taken ? "other." + name : name}));
    frame = frames_.back().get();
  }
  frame->add(step, {value});
}

void RunBuffer::tell(const std::string& error) {
  if (!on_trouble || outcome || error == told_)
    return;
  told_ = error;
  on_trouble(error);
}

bool RunBuffer::urgent() const {
  return (outcome && !closed_) || std::any_of(events_.begin(), events_.end(), [](const telemetry::Event& event) {
           return event.kind == "status" || event.kind == "edit";
         });
}

void RunBuffer::committed() {
  for (const auto& frame : frames_) {
    frame->exists = true;
    drop_front(frame->steps, frame->to_seal);
    for (SeriesBuffer& series : frame->series)
      drop_front(series.values, frame->to_seal);
    frame->first += static_cast<std::int64_t>(frame->to_seal);
    frame->to_seal = 0;
    frame->in_tail = frame->steps.size();
  }
  events_.clear();
  entries_ = 0;
  closed_ = outcome.has_value();
}

} // namespace batchscope::store::detail
