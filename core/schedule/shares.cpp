#include "core/schedule/shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::schedule {

namespace {

constexpr double share_smoothing = 0.98;
constexpr double fixed_part = 0.1; ///< of the rule `loss`
constexpr double sum_tolerance = 1e-6;
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

[[noreturn]] void refuse_shares(const std::string& text, const std::string& why) {
  throw input_error(fmt::format("--shares: {}: {}", in_quotes(text), why), "shares");
}

std::string names_of(const std::vector<data::Stream>& streams) {
  std::vector<std::string> names;
  for (const data::Stream& stream : streams)
    names.push_back(stream.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

/// The part before the first colon, if there is one, is taken off the text.
std::optional<std::string> take_prefix(std::string_view& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos)
    return std::nullopt;
  std::string prefix(text.substr(0, colon));
  text.remove_prefix(colon + 1);
  return prefix;
}

std::vector<double> mixed(const std::vector<double>& from, const std::vector<double>& to, double part) {
  std::vector<double> shares;
  for (std::size_t stream = 0; stream < from.size(); ++stream)
    shares.push_back(from[stream] + (to[stream] - from[stream]) * part);
  return shares;
}

} // namespace

ShareSchedule::ShareSchedule(const std::string& text, const std::vector<data::Stream>& streams, std::size_t clock)
    : losses_(streams.size(), unknown) {
  if (!text.empty()) {
    read(text, streams);
    check(text, streams, clock);
    return;
  }
  std::vector<double> sizes;
  for (const data::Stream& stream : streams)
    sizes.push_back(static_cast<double>(stream.examples));
  pieces_.push_back({0, sizes});
}

void ShareSchedule::read(const std::string& text, const std::vector<data::Stream>& streams) {
  std::string_view rest = text;
  if (rest.starts_with("linear:"))
    rule_ = Rule::linear;
  else if (rest.starts_with("loss:"))
    rule_ = Rule::loss;
  if (rule_ != Rule::piecewise)
    take_prefix(rest);
  while (!rest.empty()) {
    std::string_view part = take_part(rest);
    const auto step = take_prefix(part);
    if (step || pieces_.empty())
      pieces_.push_back({step ? parse_integer(*step, fmt::format("--shares: {}, step", in_quotes(text)), 0,
                                              std::numeric_limits<std::int64_t>::max())
                              : 0,
                         std::vector<double>(streams.size(), unknown)});
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view name = part.substr(0, equals);
    const auto stream =
        std::find_if(streams.begin(), streams.end(), [&](const data::Stream& each) { return each.name == name; });
    if (stream == streams.end() || equals == part.size())
      refuse_shares(text, fmt::format("unknown stream {}; accepted: NAME=SHARE for each of {}", in_quotes(name),
                                      names_of(streams)));
    double& share = pieces_.back().shares[static_cast<std::size_t>(stream - streams.begin())];
    if (!std::isnan(share))
      refuse_shares(text, fmt::format("{} is given twice", in_quotes(name)));
    share = parse_number(part.substr(equals + 1), fmt::format("--shares: {}, {}", in_quotes(text), name));
  }
}

void ShareSchedule::check(const std::string& text, const std::vector<data::Stream>& streams, std::size_t clock) const {
  if (pieces_.empty())
    refuse_shares(text, fmt::format("no shares; accepted: NAME=SHARE for each of {}", names_of(streams)));
  if (pieces_.front().step != 0)
    refuse_shares(text, fmt::format("the first shares are those from step {} on; accepted: 0", pieces_.front().step));
  if (rule_ == Rule::loss && pieces_.size() > 1)
    refuse_shares(text, "loss takes one set of shares, without steps");
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& piece = pieces_[i];
    if (i > 0 && piece.step <= pieces_[i - 1].step)
      refuse_shares(text,
                    fmt::format("step {} comes after step {}; steps must increase", piece.step, pieces_[i - 1].step));
    const std::string where = piece.step == 0 ? std::string() : fmt::format(" from step {} on", piece.step);
    for (std::size_t stream = 0; stream < streams.size(); ++stream) {
      if (std::isnan(piece.shares[stream]))
        refuse_shares(text, fmt::format("stream {} has no share{}; accepted: one for each of {}", streams[stream].name,
                                        where, names_of(streams)));
      if (piece.shares[stream] < 0 || piece.shares[stream] > 1)
        refuse_shares(text, fmt::format("the share of {} is {}{}; accepted: 0 to 1", streams[stream].name,
                                        piece.shares[stream], where));
    }
    const double sum = std::accumulate(piece.shares.begin(), piece.shares.end(), 0.0);
    if (std::abs(sum - 1) > sum_tolerance)
      refuse_shares(text, fmt::format("the shares{} add up to {:.7g}; accepted: 1", where, sum));
    if (data::exact_shares(piece.shares)[clock] == 0)
      refuse_shares(text, fmt::format("the share of {} is 0{}, and its epochs are the run's; accepted: above 0, or "
                                      "another stream as --clock",
                                      streams[clock].name, where));
  }
}

std::vector<std::int64_t> ShareSchedule::after(std::int64_t steps_done) const {
  const auto next = std::upper_bound(pieces_.begin(), pieces_.end(), steps_done,
                                     [](std::int64_t step, const Piece& piece) { return step < piece.step; });
  const Piece& piece = *std::prev(next);
  if (rule_ == Rule::linear && next != pieces_.end()) {
    const double part = static_cast<double>(steps_done - piece.step) / static_cast<double>(next->step - piece.step);
    return data::exact_shares(mixed(piece.shares, next->shares, part));
  }
  if (rule_ != Rule::loss)
    return data::exact_shares(piece.shares);
  std::vector<double> weighted = piece.shares;
  for (std::size_t stream = 0; stream < weighted.size(); ++stream)
    if (weighted[stream] > 0)
      weighted[stream] *= losses_[stream];
  const double sum = std::accumulate(weighted.begin(), weighted.end(), 0.0);
  if (!std::isfinite(sum) || sum <= 0) // a stream's loss is not known yet
    return data::exact_shares(piece.shares);
  for (double& share : weighted)
    share /= sum;
  return data::exact_shares(mixed(weighted, piece.shares, fixed_part));
}

std::int64_t ShareSchedule::largest(std::size_t stream) const {
  if (rule_ == Rule::loss)
    return data::share_unit;
  std::int64_t most = 0;
  for (const Piece& piece : pieces_)
    most = std::max(most, data::exact_shares(piece.shares)[stream]);
  // Between two points, rounding may give a stream one unit more than at both.
  return rule_ == Rule::linear ? std::min(most + 1, data::share_unit) : most;
}

void ShareSchedule::add(const std::vector<double>& losses) {
  if (rule_ != Rule::loss)
    return;
  for (std::size_t stream = 0; stream < losses.size() && stream < losses_.size(); ++stream) {
    double& mean = losses_[stream];
    if (std::isfinite(losses[stream]))
      mean = std::isnan(mean) ? losses[stream] : share_smoothing * mean + (1 - share_smoothing) * losses[stream];
  }
}

void ShareSchedule::set_losses(const std::vector<double>& losses) {
  if (losses.size() != losses_.size())
    throw input_error(fmt::format("losses of {} streams; accepted: {}", losses.size(), losses_.size()));
  losses_ = losses;
}

void check_shares(const std::string& text, const std::vector<std::string>& names, std::size_t clock) {
  std::vector<data::Stream> streams;
  for (const std::string& name : names)
    streams.push_back({name, 1});
  const ShareSchedule checked(text, streams, clock);
}

std::size_t clock_of(const std::string& clock, const std::vector<std::string>& names) {
  if (clock.empty())
    return 0;
  const auto found = std::find(names.begin(), names.end(), clock);
  if (found == names.end())
    throw input_error(fmt::format("--clock: unknown stream {}; accepted: {}", in_quotes(clock), fmt::join(names, ", ")),
                      "clock");
  return static_cast<std::size_t>(found - names.begin());
}

} // namespace batchscope::schedule
