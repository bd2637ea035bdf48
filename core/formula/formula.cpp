#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <muParser.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/schedule/detail/formula_library.h"
#include "core/telemetry/english.h"

namespace batchscope::schedule {

namespace {

constexpr std::size_t longest_formula = 1000;

/// The variables of a formula. muParser holds pointers to them, so the object never moves.
struct Variables {
  double step = 0, batch = 0, epoch = 0, coverage = 0, progress = 0;
  double loss = 0, loss_ema = 0, noise_scale = 0, vram_fraction = 0, max_batch = 0;

  void set(const ScheduleState& state) {
    step = static_cast<double>(state.step);
    batch = static_cast<double>(state.batch);
    epoch = state.epoch;
    coverage = state.coverage;
    progress = state.progress;
    loss = state.loss;
    loss_ema = state.loss_ema;
    noise_scale = state.noise.scale().value_or(std::numeric_limits<double>::quiet_NaN());
    vram_fraction = state.vram_fraction;
    max_batch = static_cast<double>(state.max_batch);
  }
};

constexpr std::string_view names =
    "step, batch, epoch, coverage, progress, loss, loss_ema, noise_scale, vram_fraction, max_batch";

/// The state of the first call as far as it is known in advance; measured values are neutral.
ScheduleState first_state(const ScheduleOrigin& origin) {
  ScheduleState state = origin.state;
  state.step += 1;
  state.batch = origin.batch;
  state.max_batch = origin.max_batch;
  const double fraction =
      state.examples > 0 ? static_cast<double>(origin.batch) / static_cast<double>(state.examples) : 1;
  state.epoch += fraction;
  state.coverage = std::min(1.0, state.coverage + fraction);
  state.progress = std::min(1.0, state.progress + fraction);
  state.loss = state.loss_ema = 1;
  state.noise = {.squared = 1, .variance = static_cast<double>(origin.batch)};
  state.vram_fraction = 0.5;
  return state;
}

/// Position of a single `=`, which muParser would take for an assignment; npos if there is none.
std::size_t find_assignment(const std::string& expression) {
  for (std::size_t i = 0; i < expression.size(); ++i) {
    if (expression[i] != '=')
      continue;
    if (i + 1 < expression.size() && expression[i + 1] == '=') {
      ++i;
      continue;
    }
    if (i == 0 || std::string_view("<>!").find(expression[i - 1]) == std::string_view::npos)
      return i;
  }
  return std::string::npos;
}

class Formula : public BatchSchedule {
public:
  explicit Formula(std::string expression) : expression_(std::move(expression)) {
    parser_.DefineVar("step", &variables_.step);
    parser_.DefineVar("batch", &variables_.batch);
    parser_.DefineVar("epoch", &variables_.epoch);
    parser_.DefineVar("coverage", &variables_.coverage);
    parser_.DefineVar("progress", &variables_.progress);
    parser_.DefineVar("loss", &variables_.loss);
    parser_.DefineVar("loss_ema", &variables_.loss_ema);
    parser_.DefineVar("noise_scale", &variables_.noise_scale);
    parser_.DefineVar("vram_fraction", &variables_.vram_fraction);
    parser_.DefineVar("max_batch", &variables_.max_batch);
  }

  /// Compiles and evaluates the formula; throws Error (input) naming the position of an error.
  void check(const ScheduleState& state) {
    try {
      parser_.SetExpr(expression_);
      variables_.set(state);
      int values = 0;
      parser_.Eval(values);
      if (values != 1)
        refuse("a comma outside a function call makes several values; accepted: one value");
      for (const auto& [name, variable] : parser_.GetUsedVar()) {
        needs_noise_ = needs_noise_ || name == "noise_scale";
        needs_length_ = needs_length_ || name == "progress";
        needs_feedback_ =
            needs_feedback_ || needs_noise_ || name == "loss" || name == "loss_ema" || name == "vram_fraction";
      }
    } catch (const mu::Parser::exception_type& e) {
      refuse(describe(e));
    }
    const ScheduleAnswer answer = next(state);
    if (!answer.problem.empty())
      refuse(telemetry::english(answer.problem));
  }

  ScheduleAnswer next(const ScheduleState& state) override {
    if (needs_noise_ && !state.noise.scale())
      return {state.batch, {}}; // not measured yet
    try {
      variables_.set(state);
      const double value = parser_.Eval();
      if (std::isfinite(value) && whole_batch(value) >= 1)
        return {whole_batch(value), {}};
      return {state.batch, no_batch(value, state.step)};
    } catch (const mu::Parser::exception_type& e) {
      return {state.batch, telemetry::as_told(describe(e))};
    }
  }
  bool needs_feedback() const override { return needs_feedback_; }
  bool needs_noise() const override { return needs_noise_; }
  bool needs_length() const override { return needs_length_; }
  std::string text() const override { return "formula:" + expression_; }

  [[noreturn]] void refuse(const std::string& why) const {
    throw input_error(fmt::format("schedule 'formula:{}': {}", shortened(expression_), why));
  }

private:
  static telemetry::Reason no_batch(double value, std::int64_t step) {
    using telemetry::Words;
    if (std::isnan(value))
      return telemetry::because(Words::formula_not_a_number, {{"step", step}});
    return telemetry::because(Words::formula_not_a_batch, {{"step", step}, {"value", value}});
  }

  static std::string describe(const mu::Parser::exception_type& e) {
    switch (e.GetCode()) {
    case mu::ecUNASSIGNABLE_TOKEN:
      return fmt::format(
          "unknown name '{}' at position {}; accepted: {}, and functions such as min, max, sqrt, exp, ln",
          shortened(e.GetToken()), e.GetPos() + 1, names);
    case mu::ecUNEXPECTED_EOF:
      return "unexpected end";
    case mu::ecMISSING_PARENS:
      return "missing closing parenthesis";
    default:
      return fmt::format("syntax error at position {}{}", e.GetPos() + 1,
                         e.GetToken().empty() ? std::string() : fmt::format(", near '{}'", shortened(e.GetToken())));
    }
  }

  std::string expression_;
  Variables variables_;
  mu::Parser parser_;
  bool needs_feedback_ = false;
  bool needs_noise_ = false;
  bool needs_length_ = false;
};

} // namespace

static std::unique_ptr<BatchSchedule> make(const std::string& expression, const ScheduleOrigin& origin) {
  auto formula = std::make_unique<Formula>(expression.substr(0, longest_formula));
  if (expression.size() > longest_formula)
    formula->refuse(fmt::format("longer than {} characters", longest_formula));
  if (expression.find_first_not_of(" \t") == std::string::npos)
    formula->refuse("empty; for example formula:min(batch + 1, 64)");
  if (const std::size_t position = find_assignment(expression); position != std::string::npos)
    formula->refuse(fmt::format("'=' at position {} is an assignment; use '==' to compare", position + 1));
  formula->check(first_state(origin));
  return formula;
}

} // namespace batchscope::schedule

/// Entry point of this library for batchscope::schedule::make_formula(), named in formula_library.h.
extern "C" void batchscope_formula(std::unique_ptr<batchscope::schedule::BatchSchedule>& made,
                                   const std::string& expression, const batchscope::schedule::ScheduleOrigin& origin) {
  made = batchscope::schedule::make(expression, origin);
}
