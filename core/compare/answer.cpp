#include "core/compare/answer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/compare/evidence.h"
#include "core/compare/mean_text.h"
#include "core/filter/values.h"
#include "core/search/finder.h"

namespace batchscope::compare {

namespace {

using telemetry::ValueKind;

/// Validation scores for the whole comparison: accuracy, or the loss, negated, if more of the finished runs have that.
class Metric {
public:
  explicit Metric(const std::vector<ComparedRun>& runs) {
    const auto having = [&](auto member) {
      return std::count_if(runs.begin(), runs.end(),
                           [&](const ComparedRun& run) { return counts(run) && !(run.*member).empty(); });
    };
    const auto accuracies = having(&ComparedRun::accuracies), losses = having(&ComparedRun::losses);
    accuracy_ = accuracies >= losses;
    exists_ = accuracies + losses > 0;
  }

  bool exists() const { return exists_; }
  bool is_accuracy() const { return accuracy_; }
  const char* name() const { return accuracy_ ? "validation accuracy" : "validation loss"; }
  const std::vector<Score>& scores(const ComparedRun& run) const { return accuracy_ ? run.accuracies : run.losses; }
  /// So that larger is better.
  double better(double value) const { return accuracy_ ? value : -value; }
  std::string text(double better) const { return value_text(kind(), accuracy_ ? better : -better); }
  ValueKind kind() const { return accuracy_ ? ValueKind::fraction : ValueKind::number; }

private:
  bool accuracy_ = false;
  bool exists_ = false;
};

/// Result of a run; nothing if it does not count for the goal.
std::optional<double> result_of(const ComparedRun& run, const Goal& goal, const Metric& metric) {
  if (!counts(run))
    return std::nullopt;
  const auto& scores = metric.scores(run);
  std::optional<double> value;
  switch (goal.kind) {
  case Goal::Kind::throughput:
    if (run.row.outcome.examples_per_second > 0)
      value = run.row.outcome.examples_per_second;
    break;
  case Goal::Kind::accuracy:
    if (!scores.empty())
      value = metric.better(scores.back().value);
    break;
  case Goal::Kind::target:
    for (const Score& score : scores)
      if (metric.better(score.value) >= metric.better(goal.value))
        return -score.seconds;
    break;
  case Goal::Kind::time:
    for (const Score& score : scores)
      if (score.seconds <= goal.value)
        value = std::max(value.value_or(metric.better(score.value)), metric.better(score.value));
    break;
  }
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// A score within a time, or a time to a score, depends on the speed, too.
telemetry::DependsOn depends_on(const Goal& goal) {
  return goal.kind == Goal::Kind::accuracy ? telemetry::DependsOn::learning : telemetry::DependsOn::speed;
}

/// Fraction of the finished runs without a value; 1 if there is none.
double share_without(const Standing& standing) {
  const auto with = static_cast<double>(standing.values.size()), without = static_cast<double>(standing.without);
  return with > 0 ? without / (with + without) : 1;
}

std::vector<Standing> standings_of(const Comparison& comparison, const Goal& goal, const Metric& metric) {
  const auto& runs = comparison.runs;
  std::vector<Standing> standings;
  const bool is_negated =
      goal.kind == Goal::Kind::target || (goal.kind != Goal::Kind::throughput && !metric.is_accuracy());
  for (const Group& group : comparison.groups) {
    Standing standing;
    std::map<std::size_t, double> results;
    for (const std::size_t index : group.runs) {
      if (const auto result = result_of(runs[index], goal, metric))
        results[index] = *result;
      else if (goal.kind != Goal::Kind::throughput && !metric.scores(runs[index]).empty())
        // A throughput or a score that is not known is no failure.
        standing.without += counts(runs[index]) ? 1 : 0;
    }
    for (const std::size_t index :
         evidence(comparison, group.runs, depends_on(goal), [&](std::size_t run) { return results.contains(run); })) {
      const double value = results.at(index);
      standing.values.push_back(value);
      standing.results.push_back(is_negated ? -value : value);
      standing.seeds.push_back(setting_text(runs[index], "seed"));
    }
    standing.group = group;
    standing.summary = summarize(standing.values);
    standings.push_back(std::move(standing));
  }
  std::stable_sort(standings.begin(), standings.end(), [](const Standing& a, const Standing& b) {
    const double without_a = share_without(a), without_b = share_without(b);
    return without_a != without_b ? without_a < without_b : a.summary.mean > b.summary.mean;
  });
  return standings;
}

/// A setting with a single run may be first by luck: one with repeats is put before it if a further run of that, too,
/// could be as good, by the 95 % prediction interval.
void put_repeats_first(std::vector<Standing>& standings) {
  if (standings.empty() || standings.front().summary.n != 1)
    return;
  const Standing& single = standings.front();
  const auto repeated = std::find_if(standings.begin() + 1, standings.end(), [&](const Standing& standing) {
    return standing.summary.n > 1 && share_without(standing) <= share_without(single);
  });
  if (repeated == standings.end())
    return;
  const auto n = static_cast<double>(repeated->summary.n);
  const double further =
      student_quantile(0.975, repeated->summary.n - 1) * repeated->summary.deviation * std::sqrt(1 + 1 / n);
  if (single.summary.mean - repeated->summary.mean <= further)
    std::rotate(standings.begin(), repeated, repeated + 1);
}

/// Value of the first run with the seed of `best`'s run `index`; of the second one if that run is its second, and so
/// on.
std::optional<double> value_beside(const Standing& standing, const Standing& best, std::size_t index) {
  const auto end = best.seeds.begin() + static_cast<std::ptrdiff_t>(index);
  auto earlier = std::count(best.seeds.begin(), end, best.seeds[index]);
  for (std::size_t i = 0; i < standing.seeds.size(); ++i)
    if (standing.seeds[i] == best.seeds[index] && earlier-- == 0)
      return standing.values[i];
  return std::nullopt;
}

/// Differences of the best and another setting over the seeds that both have.
std::vector<double> paired(const Standing& best, const Standing& other) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < best.seeds.size(); ++i)
    if (const auto value = value_beside(other, best, i))
      differences.push_back(best.values[i] - *value);
  return differences;
}

/// From the settings that have all seeds of the best.
std::optional<Spread> spread_of(const std::vector<Standing>& standings) {
  std::vector<std::vector<double>> rows;
  for (const Standing& standing : standings) {
    std::vector<double> row;
    for (std::size_t i = 0; i < standings.front().seeds.size(); ++i)
      if (const auto value = value_beside(standing, standings.front(), i))
        row.push_back(*value);
    if (row.size() == standings.front().seeds.size())
      rows.push_back(std::move(row));
  }
  return pooled_spread(rows);
}

/// Marks the settings without a clear difference from the best; false if there are too few repeats to say.
bool mark_ties(std::vector<Standing>& standings) {
  bool told = true;
  const auto others =
      std::count_if(standings.begin() + 1, standings.end(), [](const Standing& s) { return !s.values.empty(); });
  // The one that is truly best must not be ruled out by any of the others, by chance, in more than 5 % of sweeps.
  const double divisor = std::max(1.0, static_cast<double>(others) / 2);
  const std::optional<Spread> spread = spread_of(standings);
  for (auto other = standings.begin() + 1; other != standings.end(); ++other) {
    if (other->values.empty())
      continue;
    if (share_without(*other) > share_without(standings.front())) { // its values are those of its luckier seeds
      told = false;
      continue;
    }
    const auto interval = mean_interval(paired(standings.front(), *other), divisor, spread);
    other->same_as_best = !interval ? other->summary.mean == standings.front().summary.mean : interval->contains_zero();
    told = told && interval.has_value();
  }
  standings.front().same_as_best = true;
  return told;
}

/// Chooses, from the settings without a clear difference from the best that differ from it by no more than the
/// spread of repeats, the one with the smallest batch; from several of these, the best. (With few seeds the interval
/// alone would let a clearly lower mean win.)
const Standing& smallest_of_the_best(const std::vector<Standing>& standings) {
  const Standing& best = standings.front();
  const Standing* chosen = &best;
  for (const Standing& standing : standings) {
    const double spread = std::max(best.summary.deviation, standing.summary.deviation);
    if (standing.same_as_best && best.summary.mean - standing.summary.mean <= spread && standing.group.batch &&
        chosen->group.batch && *standing.group.batch < *chosen->group.batch)
      chosen = &standing;
  }
  return *chosen;
}

/// The smallest batch whose throughput is within 5 % of the best.
const Standing& knee_of(const std::vector<Standing>& standings) {
  const double enough = standings.front().summary.mean * (1 - search::knee_tolerance);
  const Standing* chosen = &standings.front();
  for (const Standing& standing : standings)
    if (!standing.values.empty() && standing.summary.mean >= enough &&
        standing.group.batch.value_or(0) < chosen->group.batch.value_or(0))
      chosen = &standing;
  return *chosen;
}

std::string capitalized(std::string text) {
  if (!text.empty())
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string runs_text(std::int64_t n) {
  return n == 1 ? "1 run" : format_count(n) + " runs";
}

/// `over 3 seeds`; `over 2 runs` if they share a seed; `in 2 of 3 runs` if the others have no value. Empty for one run.
std::string count_text(const Standing& standing) {
  const std::int64_t n = standing.summary.n;
  if (standing.without > 0)
    return fmt::format(" in {} of {} runs", n, n + standing.without);
  const std::set<std::string> seeds(standing.seeds.begin(), standing.seeds.end());
  return n > 1 ? fmt::format(" over {} {}", n, seeds.size() == standing.seeds.size() ? "seeds" : "runs")
               : std::string();
}

/// `98.20 % ± 0.12 over 3 seeds`.
std::string value_text(const Standing& standing, const Goal& goal, const Metric& metric) {
  const Summary results = summarize(standing.results);
  if (goal.kind == Goal::Kind::throughput) {
    MeanText text = mean_text(ValueKind::count, results);
    text.mean += " examples/s";
    return text.whole() + count_text(standing);
  }
  const ValueKind kind = goal.kind == Goal::Kind::target ? ValueKind::seconds : metric.kind();
  return mean_text(kind, results).whole() + count_text(standing);
}

std::string what_it_has(const Goal& goal, const Metric& metric) {
  switch (goal.kind) {
  case Goal::Kind::throughput:
    return "throughput";
  case Goal::Kind::target:
    return fmt::format("time to a {} of {}", metric.name(), metric.text(metric.better(goal.value)));
  case Goal::Kind::time:
    return fmt::format("{} within {}", metric.name(), format_duration(goal.value));
  default:
    return metric.name();
  }
}

/// Why this setting: the best, or one that cannot be told from it.
std::string reason(const std::vector<Standing>& standings, const Standing& chosen, const Goal& goal,
                   const std::string& what) {
  const Standing& best = standings.front();
  if (&chosen == &best)
    return fmt::format("{}: the best {}, {}.", capitalized(chosen.group.label()), what, best.text);
  const std::string by_knee = fmt::format("is within {:g} % of the best,", 100 * search::knee_tolerance);
  const std::string close = goal.kind != Goal::Kind::throughput ? "shows no clear difference from the best," : by_knee;
  return fmt::format("{}: {} {}, the smallest batch size that {} {} ({}).", capitalized(chosen.group.label()), what,
                     chosen.text, close, best.group.label(), best.text);
}

/// ` Batch size 16 has 98.30 %, but in one run only.`: the best of those that put_repeats_first() has put behind.
std::string single_text(const std::vector<Standing>& standings) {
  const auto single = std::find_if(standings.begin() + 1, standings.end(), [&](const Standing& standing) {
    return standing.summary.n == 1 && standing.summary.mean > standings.front().summary.mean &&
           share_without(standing) <= share_without(standings.front());
  });
  return single == standings.end()
             ? std::string()
             : fmt::format(" {} has {}, but in one run only.", capitalized(single->group.label()), single->text);
}

/// `No clear difference from batch size 32 and batch size 128.`
std::string ties_text(const std::vector<Standing>& standings, const Standing& chosen) {
  std::vector<std::string> labels;
  for (const Standing& standing : standings)
    if (standing.same_as_best && &standing != &chosen && &standing != &standings.front())
      labels.push_back(standing.group.label());
  constexpr std::size_t most = 3;
  if (labels.empty())
    return {};
  const bool with_commas = labels.front().find(',') != std::string::npos; // settings of more than one field
  std::string text = labels.front();
  for (std::size_t i = 1; i < std::min(labels.size(), most); ++i)
    text += (i + 1 == labels.size() ? " and " : with_commas ? "; " : ", ") + labels[i];
  if (labels.size() > most)
    text += fmt::format(" and {} more", labels.size() - most);
  const bool is_best = &chosen == &standings.front();
  return fmt::format(" No clear difference from {}{}.", text, is_best ? "" : " either");
}

/// How sure all of it is, as far as that depends on the number of repeats.
std::string repeats_text(const std::vector<Standing>& standings, const Goal& goal, bool told) {
  std::int64_t most = 0;
  for (const Standing& standing : standings)
    most = std::max(most, standing.summary.n);
  // For speeds, runs were left out for another reason.
  const bool same_seed =
      goal.kind == Goal::Kind::accuracy &&
      std::any_of(standings.begin(), standings.end(), [](const Standing& standing) {
        return static_cast<std::int64_t>(standing.group.runs.size()) > standing.summary.n + standing.without;
      });
  if (most == 1)
    return fmt::format(" Only one {} each, so the spread between seeds is unknown.", same_seed ? "seed" : "run");
  if (!told)
    return " Some settings do not have two runs with the best setting's seeds, so it is unknown how certain this is.";
  if (most > 2)
    return {};
  const bool seeds = std::none_of(standings.begin(), standings.end(), [](const Standing& standing) {
    return standing.seeds.size() == 2 && standing.seeds.front() == standing.seeds.back();
  });
  return fmt::format(" With two {}, only large differences are significant; a third repeat helps a lot.",
                     seeds ? "seeds" : "runs of each");
}

/// Whether the best is at an edge of the batch sizes that were tried, with or without a result.
std::string edges_text(const std::vector<Standing>& standings, const Standing& chosen) {
  if (!chosen.group.batch)
    return {};
  std::int64_t least = *chosen.group.batch;
  std::int64_t most = *chosen.group.batch;
  for (const Standing& standing : standings)
    if ((!standing.values.empty() || standing.without > 0) && standing.group.batch) {
      least = std::min(least, *standing.group.batch);
      most = std::max(most, *standing.group.batch);
    }
  if (least == most)
    return " No other batch size was tried.";
  if (*chosen.group.batch == least && least > 1)
    return fmt::format(" Smaller batch sizes than {} were not tried.", format_count(least));
  if (*chosen.group.batch == most)
    return fmt::format(" Larger batch sizes than {} were not tried.", format_count(most));
  return {};
}

std::string gaps_text(const std::vector<ComparedRun>& runs, const std::vector<Standing>& standings, const Goal& goal,
                      const Metric& metric) {
  std::string text;
  std::int64_t open = 0;
  std::int64_t shared = 0;
  for (const ComparedRun& run : runs) {
    open += telemetry::is_open(run.row.outcome.status) ? 1 : 0;
    shared += run.row.workers > 1 ? 1 : 0;
  }
  const auto without =
      std::count_if(standings.begin(), standings.end(), [](const auto& s) { return s.values.empty(); });
  if (open > 0)
    text += fmt::format(" Still open: {}.", runs_text(open));
  else if (without > 0)
    text += fmt::format(" {} {} no result for this goal.",
                        without == 1 ? "1 combination" : format_count(without) + " combinations",
                        without == 1 ? "has" : "have");
  const auto left_out = std::count_if(runs.begin(), runs.end(), [](const ComparedRun& run) {
    return !counts(run) && !telemetry::is_open(run.row.outcome.status);
  });
  if (left_out > 0)
    text += fmt::format(" Left out: {} that did not finish.", runs_text(left_out));
  const auto unknown = std::count_if(runs.begin(), runs.end(),
                                     [&](const ComparedRun& run) { return counts(run) && metric.scores(run).empty(); });
  if (unknown > 0 && goal.kind != Goal::Kind::throughput)
    text += fmt::format(" Left out: {} without a {}.", runs_text(unknown), metric.name());
  if (shared > 0 && goal.kind != Goal::Kind::accuracy)
    text += fmt::format(" {} trained at the same time as others, so their times are not comparable.",
                        capitalized(runs_text(shared)));
  return text;
}

/// Summarizes the speeds of a setting's runs that are evidence for it.
Summary speed_of(const Comparison& comparison, const Standing& standing) {
  const auto rate = [&](std::size_t run) { return comparison.runs[run].row.outcome.examples_per_second; };
  std::vector<double> rates;
  for (const std::size_t run : evidence(comparison, standing.group.runs, telemetry::DependsOn::speed,
                                        [&](std::size_t each) { return std::isfinite(rate(each)) && rate(each) > 0; }))
    rates.push_back(rate(run));
  return summarize(rates);
}

/// Whether only disturbed runs tell the speed of a setting.
bool is_disturbed(const Comparison& comparison, const Standing& standing) {
  const auto calm = [&](std::size_t run) {
    return counts(comparison.runs[run]) && !compare::is_disturbed(comparison.runs[run].row.outcome);
  };
  return std::none_of(standing.group.runs.begin(), standing.group.runs.end(), calm);
}

/// How many times as fast as the slowest other batch size it trains; only if that is known and says something.
std::string speed_text(const Comparison& comparison, const std::vector<Standing>& standings, const Standing& chosen) {
  const Standing* slowest = nullptr;
  double least = std::numeric_limits<double>::infinity();
  for (const Standing& standing : standings)
    if (!standing.values.empty() && standing.group.batch != chosen.group.batch)
      if (const Summary speed = speed_of(comparison, standing); speed.n > 0 && speed.mean < least) {
        slowest = &standing;
        least = speed.mean;
      }
  constexpr double worth_saying = 1.2;
  const Summary own = speed_of(comparison, chosen);
  if (!slowest || own.n == 0 || own.mean / least < worth_saying)
    return {};
  if (is_disturbed(comparison, chosen) || is_disturbed(comparison, *slowest))
    return {}; // see disturbed_text()
  return fmt::format(" It trains {:.1f} times as fast as {}.", own.mean / least, slowest->group.label());
}

/// By how much the rates of one setting's runs differ, the most of all settings: the highest through the lowest.
double variation(const Comparison& comparison, const std::vector<Standing>& standings) {
  double most = 1;
  for (const Standing& standing : standings) {
    double slowest = std::numeric_limits<double>::infinity();
    double fastest = 0;
    for (const std::size_t index : standing.group.runs)
      if (const double rate = comparison.runs[index].row.outcome.examples_per_second;
          counts(comparison.runs[index]) && rate > 0) {
        slowest = std::min(slowest, rate);
        fastest = std::max(fastest, rate);
      }
    most = std::max(most, fastest / slowest); // 0 without a rate
  }
  return most;
}

bool any_disturbed(const Comparison& comparison, const std::vector<Standing>& standings) {
  return std::any_of(standings.begin(), standings.end(), [&](const Standing& standing) {
    return !standing.values.empty() && is_disturbed(comparison, standing);
  });
}

/// Text about the effect of other work on the machine on the speeds.
std::string disturbed_text(const Comparison& comparison, const std::vector<Standing>& standings, const Goal& goal) {
  const auto runs = std::count_if(comparison.runs.begin(), comparison.runs.end(), [](const ComparedRun& run) {
    return counts(run) && compare::is_disturbed(run.row.outcome);
  });
  if (runs == 0)
    return {};
  std::string text = fmt::format(" Other work on the machine disturbed {}", runs_text(runs));
  if (!any_disturbed(comparison, standings))
    return text + fmt::format("; {} not count.", runs == 1 ? "its speed does" : "their speeds do");
  constexpr double worth_saying = 1.1;
  if (const double fold = variation(comparison, standings); fold >= worth_saying)
    text += fmt::format(", and speeds of one setting vary {:.1f}-fold", fold);
  return text + (goal.kind == Goal::Kind::accuracy
                     ? ", so speeds are not compared."
                     : ", so this is not certain; train again when the machine is less busy.");
}

/// An error on other examples is another quantity.
std::string data_text(const Comparison& comparison, const Goal& goal) {
  const auto& differing = comparison.settings.differing;
  const bool differs = std::find(differing.begin(), differing.end(), "data") != differing.end();
  return differs && goal.kind != Goal::Kind::throughput
             ? " The runs have different data, so their scores may not be comparable."
             : "";
}

/// Two answers may differ because they are to other goals, or from other runs.
std::string basis_of(const std::vector<ComparedRun>& runs, const std::string& what) {
  const auto finished = std::count_if(runs.begin(), runs.end(), [](const ComparedRun& run) { return counts(run); });
  const auto all = static_cast<std::int64_t>(runs.size());
  return fmt::format("Goal: {}. From {}.", what,
                     finished == all ? runs_text(all)
                                     : fmt::format("{} of {}", format_count(finished), runs_text(all)));
}

Answer no_answer(std::string text, std::string result = {}, std::vector<Standing> standings = {}) {
  Answer answer;
  answer.text = std::move(text);
  answer.result = std::move(result);
  answer.standings = std::move(standings);
  return answer;
}

} // namespace

Goal parse_goal(const std::string& text, const std::string& option) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string value = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (name == "accuracy" && colon == std::string::npos)
    return {.kind = Goal::Kind::accuracy};
  if (name == "throughput" && colon == std::string::npos)
    return {.kind = Goal::Kind::throughput};
  if (name == "target")
    if (const auto score = filter::value_of(telemetry::ValueKind::fraction, value);
        score && std::isfinite(*score) && !(value.ends_with('%') && *score > 1))
      return {.kind = Goal::Kind::target, .value = *score};
  if (name == "time")
    if (const auto seconds = filter::value_of(telemetry::ValueKind::seconds, value);
        seconds && std::isfinite(*seconds) && *seconds > 0)
      return {.kind = Goal::Kind::time, .value = *seconds};
  throw input_error(fmt::format("{}: {} is not accepted; accepted: accuracy, throughput, target:SCORE such as "
                                "target:97%, time:DURATION such as time:2min",
                                option, in_quotes(text)));
}

Answer answer(const Comparison& comparison, const Goal& goal) {
  const auto& runs = comparison.runs;
  const Metric metric(runs);
  const bool finished = std::any_of(runs.begin(), runs.end(), [](const ComparedRun& run) { return counts(run); });
  if (!finished)
    return no_answer("No answer yet: none of the runs has finished.");
  if (goal.kind != Goal::Kind::throughput && !metric.exists())
    return no_answer("No answer: no run has a validation score. The goal throughput does not need one.");
  auto standings = standings_of(comparison, goal, metric);
  if (goal.kind != Goal::Kind::throughput)
    put_repeats_first(standings);
  for (Standing& standing : standings)
    if (!standing.values.empty())
      standing.text = value_text(standing, goal, metric);
  const std::string what = what_it_has(goal, metric);
  if (standings.front().values.empty())
    return no_answer(goal.kind == Goal::Kind::target ? fmt::format("No run reaches a {} of {}.", metric.name(),
                                                                   metric.text(metric.better(goal.value)))
                                                     : "No answer: no run has a result for this goal.",
                     what, std::move(standings));
  if (standings.size() == 1) {
    std::string text = fmt::format("No answer: {}. {}: {}.",
                                   runs.size() == 1 ? "there is only one run to choose from"
                                                    : "all of the runs have the same settings",
                                   capitalized(what), standings.front().text);
    return no_answer(std::move(text), what, std::move(standings));
  }
  const bool told = mark_ties(standings);
  const Standing& chosen = goal.kind == Goal::Kind::throughput ? knee_of(standings) : smallest_of_the_best(standings);
  Answer answer;
  answer.headline = capitalized(chosen.group.label());
  answer.result = what;
  answer.basis = basis_of(runs, what);
  answer.text = reason(standings, chosen, goal, what) + single_text(standings) + ties_text(standings, chosen) +
                (goal.kind == Goal::Kind::accuracy ? speed_text(comparison, standings, chosen) : "");
  answer.reason_size = answer.text.size();
  answer.text += disturbed_text(comparison, standings, goal) + repeats_text(standings, goal, told) +
                 edges_text(standings, chosen) + gaps_text(runs, standings, goal, metric) + data_text(comparison, goal);
  answer.batch = chosen.group.batch;
  for (const std::size_t index : chosen.group.runs)
    answer.runs.push_back(runs[index].row.id);
  const bool alone =
      std::count_if(standings.begin(), standings.end(), [](const Standing& s) { return s.same_as_best; }) == 1;
  if (told && (goal.kind == Goal::Kind::accuracy || !any_disturbed(comparison, standings)))
    answer.certainty = alone ? Certainty::sure : Certainty::close;
  answer.standings = std::move(standings);
  return answer;
}

} // namespace batchscope::compare
