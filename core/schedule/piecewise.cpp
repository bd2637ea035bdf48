#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/schedule/schedule_kind.h"

namespace batchscope::schedule {

namespace {

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

std::unique_ptr<BatchSchedule> make_piecewise(const ScheduleText& text, const ScheduleOrigin& origin) {
  std::vector<Piece> pieces = read_pieces(text);
  if (origin.state.step == 0 && pieces.front().step == 0 && pieces.front().batch != origin.batch)
    text.refuse(fmt::format("0={} differs from the first batch, {}", pieces.front().batch, origin.batch));
  return std::make_unique<Piecewise>(std::move(pieces), origin.batch, text.text());
}

} // namespace

extern const ScheduleKind piecewise_schedule;
const ScheduleKind piecewise_schedule{.name = "piecewise",
                                      .title = "Piecewise constant",
                                      .form = "piecewise:0=16,100=32",
                                      .make = make_from<make_piecewise>,
                                      .example =
                                          [](std::int64_t batch, std::int64_t steps, double /*epochs*/) {
                                            return fmt::format("piecewise:0={},{}={}", batch,
                                                               std::max<std::int64_t>(steps / 2, 1), 2 * batch);
                                          },
                                      .depends_on_step_only = true,
                                      .first_batch =
                                          [](const std::string& text) {
                                            const Piece first = read_pieces(ScheduleText(text)).front();
                                            return first.step == 0 ? std::optional(first.batch) : std::nullopt;
                                          }};

} // namespace batchscope::schedule
