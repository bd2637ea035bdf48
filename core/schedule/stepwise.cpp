// Schedules that count optimizer steps: constant, step, piecewise.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/schedule/schedules.h"

namespace batchscope::schedule {

namespace {

class Constant : public BatchSchedule {
public:
  ScheduleAnswer next(const ScheduleState& state) override { return {state.batch, {}}; }
  std::string text() const override { return "constant"; }
};

class Step : public BatchSchedule {
public:
  Step(std::int64_t interval, std::int64_t increment, std::int64_t first_step, std::string text)
      : interval_(interval), increment_(increment), first_step_(first_step), text_(std::move(text)) {}

  ScheduleAnswer next(const ScheduleState& state) override {
    if ((state.step - first_step_) % interval_ != 0)
      return {state.batch, {}};
    std::int64_t sum = 0;
    if (__builtin_add_overflow(state.batch, increment_, &sum))
      sum = std::numeric_limits<std::int64_t>::max();
    return {sum, {}};
  }
  std::string text() const override { return text_; }

private:
  std::int64_t interval_;
  std::int64_t increment_;
  std::int64_t first_step_;
  std::string text_;
};

struct Piece {
  std::int64_t step = 0;
  std::int64_t batch = 0;
};

class Piecewise : public BatchSchedule {
public:
  Piecewise(std::vector<Piece> pieces, std::int64_t base, std::string text)
      : pieces_(std::move(pieces)), base_(base), text_(std::move(text)) {}

  ScheduleAnswer next(const ScheduleState& state) override {
    const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), state.step,
                                        [](std::int64_t step, const Piece& piece) { return step < piece.step; });
    return {after == pieces_.begin() ? base_ : std::prev(after)->batch, {}};
  }
  std::string text() const override { return text_; }

private:
  std::vector<Piece> pieces_;
  std::int64_t base_;
  std::string text_;
};

std::vector<Piece> read_pieces(const ScheduleText& text) {
  std::vector<Piece> pieces;
  for (const auto& [key, value] : text.parameters().parameters) {
    const std::string field = fmt::format("schedule '{}'", shortened(text.text()));
    const std::int64_t highest = std::numeric_limits<std::int64_t>::max();
    const Piece piece{parse_integer(key, field + ", step", 0, highest),
                      parse_integer(value, fmt::format("{}, batch from step {} on", field, key), 1, highest)};
    if (!pieces.empty() && piece.step <= pieces.back().step)
      text.refuse(fmt::format("step {} comes after step {}; steps must increase", piece.step, pieces.back().step));
    pieces.push_back(piece);
  }
  if (pieces.empty())
    text.refuse("no pieces; accepted: piecewise:STEP=BATCH,STEP=BATCH, for example piecewise:0=16,100=32");
  return pieces;
}

} // namespace

std::unique_ptr<BatchSchedule> make_constant(const ScheduleText& text, const ScheduleOrigin& /*origin*/) {
  text.accept_only({});
  return std::make_unique<Constant>();
}

std::unique_ptr<BatchSchedule> make_step(const ScheduleText& text, const ScheduleOrigin& origin) {
  text.accept_only({"interval", "increment"});
  return std::make_unique<Step>(text.integer("interval", 1), text.integer("increment", 1), origin.state.step,
                                text.text());
}

std::optional<std::int64_t> first_batch_of(const std::string& text) {
  if (is_edited(text))
    return first_batch_of_edited(parse_edited(text));
  if (text.substr(0, text.find(':')) != "piecewise")
    return std::nullopt;
  const Piece first = read_pieces(ScheduleText(text)).front();
  return first.step == 0 ? std::optional(first.batch) : std::nullopt;
}

std::unique_ptr<BatchSchedule> make_piecewise(const ScheduleText& text, const ScheduleOrigin& origin) {
  std::vector<Piece> pieces = read_pieces(text);
  if (origin.state.step == 0 && pieces.front().step == 0 && pieces.front().batch != origin.batch)
    text.refuse(fmt::format("0={} differs from the first batch, {}", pieces.front().batch, origin.batch));
  return std::make_unique<Piecewise>(std::move(pieces), origin.batch, text.text());
}

} // namespace batchscope::schedule
