#include "core/schedule/progression.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json.h"
#include "core/schedule/detail/course_json.h"
#include "core/schedule/shares.h"
#include "core/telemetry/event_codec.h"

namespace batchscope::schedule {

namespace {

thread_local std::uint64_t planned_steps = 0;

constexpr double loss_smoothing = 0.98;
/// Number of earlier schedules that a run can return to.
constexpr std::size_t max_left = 8;

double fraction(std::int64_t part, std::int64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

void check_length(const RunLength& length) {
  const std::pair<const char*, std::optional<std::int64_t>> lengths[] = {
      {"epochs", length.epochs}, {"examples", length.examples}, {"steps", length.steps}};
  int given = 0;
  for (const auto& [name, value] : lengths) {
    given += value ? 1 : 0;
    if (value && *value < 1)
      throw input_error(fmt::format("{} is {}; accepted: 1 or more", name, *value), name);
  }
  if (given != 1)
    throw input_error("the length of a run: accepted: exactly one of epochs, examples, steps", "epochs");
}

/// The limit to which every schedule is clamped; throws if the first batch is above it.
std::int64_t bound_of(const ProgressionOptions& options) {
  const auto& sampler = options.sampler;
  const std::int64_t largest = data::largest_batch(sampler);
  if (options.batch < 1)
    throw input_error(fmt::format("batch size {} is not accepted; accepted: 1 or more", options.batch), "batch");
  if (options.batch > largest)
    throw input_error(fmt::format("batch {} is too large for {} ranks and {} examples; accepted: 1 to {}",
                                  options.batch, sampler.ranks, sampler.examples, largest),
                      "batch");
  if (!options.max_batch)
    return largest;
  if (*options.max_batch < options.batch)
    throw input_error(fmt::format("max-batch {} is below the first batch, {}", *options.max_batch, options.batch),
                      "max_batch");
  return std::min(largest, *options.max_batch);
}

/// Checks that b*k*R fits 64 bits for every batch that a schedule can get.
void check_product(const data::SamplerOptions& sampler, std::int64_t max_batch) {
  std::int64_t product = 0;
  if (!sampler.effective_batch && __builtin_mul_overflow(max_batch * sampler.ranks, sampler.accumulate, &product))
    throw input_error(fmt::format("accumulate {} makes an effective batch above 2^63", sampler.accumulate),
                      "accumulate");
}

std::optional<ShareSchedule> shares_of(const ProgressionOptions& options) {
  if (options.sampler.streams.empty())
    return std::nullopt;
  return ShareSchedule(options.shares, options.sampler.streams, options.sampler.clock);
}

} // namespace

double estimated_steps(const ProgressionOptions& options, const PlannedStep& step) {
  const RunLength& length = options.length;
  if (length.steps)
    return static_cast<double>(*length.steps);
  const auto a_step = static_cast<double>(step.takes.examples);
  const auto epoch = static_cast<double>(data::examples_in_epoch(options.sampler));
  const auto done = static_cast<double>(step.step);
  if (length.examples)
    return done +
           std::ceil((static_cast<double>(*length.examples) - static_cast<double>(step.takes.seen_in_total)) / a_step);
  const double steps_of_epoch = options.sampler.drop_last ? std::floor(epoch / a_step) : std::ceil(epoch / a_step);
  const double left_of_epoch =
      epoch * (1 - fraction(step.takes.passed_in_epoch, data::epoch_size(options.sampler))) / a_step;
  const double whole_epochs = static_cast<double>(*length.epochs) - static_cast<double>(step.takes.epoch_index) - 1;
  return done + (options.sampler.drop_last ? std::floor(left_of_epoch) : std::ceil(left_of_epoch)) +
         whole_epochs * steps_of_epoch;
}

telemetry::EventBody body_of(const ScheduleEvent& event) {
  return std::visit([](const auto& what) { return telemetry::EventBody(what); }, event.what);
}

namespace {

/// Whether it is the same again: the values of the steps do not count.
bool is_same(const decltype(ScheduleEvent::what)& a, const decltype(ScheduleEvent::what)& b) {
  const auto* problem = std::get_if<telemetry::ScheduleProblem>(&a);
  const auto* other = std::get_if<telemetry::ScheduleProblem>(&b);
  return problem && other ? problem->batch == other->batch : a == b;
}

} // namespace

class Progression::Impl {
public:
  Impl(const ProgressionOptions& options, EventSink on_event)
      : options_(options), on_event_(std::move(on_event)), shares_(shares_of(options)), sampler_(options.sampler),
        rate_(options.learning_rate), max_batch_(bound_of(options)), batch_(options.batch),
        epoch_size_(data::epoch_size(options.sampler)) {
    check_length(options.length);
    check_product(options.sampler, max_batch_);
    state_.examples = data::examples_in_epoch(options.sampler);
    state_.max_batch = max_batch_;
    state_.batches_in_step = options.sampler.accumulate * options.sampler.ranks;
    about_field("schedule", [&] {
      schedule_ = make_schedule(options.schedule, {batch_, max_batch_, state_, options_.has_tokens});
    });
    schedule_text_ = schedule_->text();
  }

  std::optional<PlannedStep> next();
  std::optional<double> add_gradient_norms(const GradientNorms& norms) {
    state_.noise.add(norms);
    return state_.noise.scale();
  }
  void done(const Feedback& feedback);
  void edit(const std::string& text, std::optional<std::int64_t> batch);
  void make_next_with(std::int64_t batch) {
    batch_ = std::clamp(batch, std::int64_t{1}, max_batch_);
    pending_.reset();
  }
  void set_shares(const std::string& text);
  const std::string& shares_text() const { return options_.shares; }
  Json state_json() const;
  void restore(const Json& json);
  /// Separates a copy from its original: gives it schedules of its own, and removes the receiver of its events.
  void stand_alone();

  bool epoch_ended() const { return sampler_.begins_epoch(batch_) || through(); }
  const ScheduleState& state() const { return state_; }
  std::int64_t batch() const { return batch_; }
  const BatchSchedule& schedule() const { return *schedule_; }
  bool counts_gains() const {
    return options_.length.steps && options_.learning_rate.rule == LearningRateRule::adascale;
  }
  bool needs_feedback() const {
    return schedule_->needs_feedback() || counts_gains() || (shares_ && shares_->needs_feedback());
  }
  bool needs_length() const { return schedule_->needs_length(); }

  bool needs_noise() const {
    return schedule_->needs_noise() || options_.learning_rate.rule == LearningRateRule::adascale;
  }
  const std::string& schedule_text() const { return schedule_text_; }

private:
  /// Whether the run is over by steps or examples; by epochs only the sampler's next step shows it.
  bool through() const;
  double progress_at(std::int64_t epoch_index, std::int64_t passed) const;
  std::int64_t nominal_effective() const;
  double gain(std::int64_t effective_batch) const;
  void count(const PlannedStep& step, const Feedback& feedback);
  void set_next_shares();
  void follow(const ScheduleAnswer& answer);
  void remember(const Course& course);
  void report(const decltype(ScheduleEvent::what)& what);

  ProgressionOptions options_;
  EventSink on_event_;
  std::optional<ShareSchedule> shares_; ///< of several streams
  data::Sampler sampler_;               ///< after the last step done, with the shares of the next
  LearningRate rate_;                   ///< likewise
  std::int64_t max_batch_;
  std::int64_t batch_;
  std::int64_t epoch_size_; ///< N of the epochs
  ScheduleState state_;     ///< after the last step done
  std::shared_ptr<BatchSchedule> schedule_;
  std::string schedule_text_;
  std::vector<Course> left_; ///< replaced schedules, which keep their state; the last replaced one is at the end
  std::optional<ScheduleEvent> last_event_; ///< of the last call, if there was one

  // The step that next() returned; done() takes over its state.
  std::optional<PlannedStep> pending_;
  std::optional<data::Sampler> pending_sampler_;
  std::optional<LearningRate> pending_rate_;
};

bool Progression::Impl::through() const {
  const RunLength& length = options_.length;
  // Gains are sums of fractions: a step whose share is a rounding error is none.
  constexpr double rounding = 1e-9;
  const double steps = counts_gains() ? state_.gains + rounding : static_cast<double>(state_.step);
  return (length.steps && steps >= static_cast<double>(*length.steps)) ||
         (length.examples && state_.examples_seen >= *length.examples);
}

double Progression::Impl::progress_at(std::int64_t epoch_index, std::int64_t passed) const {
  if (counts_gains())
    return std::min(1.0, state_.gains / static_cast<double>(*options_.length.steps));
  const double epochs = static_cast<double>(epoch_index) + fraction(passed, epoch_size_);
  return fraction_done(options_.length, state_.step, state_.examples_seen, epochs).value_or(0);
}

std::int64_t Progression::Impl::nominal_effective() const {
  const auto& sampler = options_.sampler;
  return sampler.effective_batch.value_or(batch_ * sampler.accumulate * sampler.ranks);
}

std::optional<PlannedStep> Progression::Impl::next() {
  if (pending_)
    return pending_;
  if (through())
    return std::nullopt;
  std::optional<std::int64_t> limit;
  if (options_.length.examples)
    limit = *options_.length.examples - state_.examples_seen;
  data::Sampler sampler = sampler_;
  PlannedStep planned;
  planned.takes = sampler.next(batch_, limit);
  if (options_.length.epochs && planned.takes.epoch_index >= *options_.length.epochs)
    return std::nullopt;

  LearningRate rate = rate_;
  ++planned_steps;
  planned.step = state_.step + 1;
  planned.batch = batch_;
  planned.nominal_effective = nominal_effective();
  planned.epoch = fraction(planned.takes.seen_of_epochs, epoch_size_);
  planned.train_coverage = fraction(planned.takes.seen_in_epoch, epoch_size_);
  planned.progress = progress_at(planned.takes.epoch_index, planned.takes.first);
  planned.learning_rate = rate.next(state_.step, planned.progress, planned.nominal_effective, state_.noise) *
                          schedule_->learning_rate_factor(state_);
  planned.gain = gain(planned.nominal_effective);
  pending_ = std::move(planned);
  pending_sampler_ = sampler;
  pending_rate_ = rate;
  return pending_;
}

double Progression::Impl::gain(std::int64_t effective_batch) const {
  const LearningRateOptions& rate = options_.learning_rate;
  if (rate.rule != LearningRateRule::adascale)
    return 1;
  return state_.noise.gain(fraction(effective_batch, rate.reference_batch), rate.reference_batch);
}

void Progression::Impl::count(const PlannedStep& step, const Feedback& feedback) {
  const data::StepTakes& takes = step.takes;
  ++state_.step;
  state_.gains += step.gain;
  state_.batch = batch_;
  state_.epoch_index = takes.epoch_index;
  state_.examples_seen = takes.seen_in_total;
  state_.tokens_seen += feedback.tokens;
  state_.epoch = fraction(takes.seen_of_epochs, epoch_size_);
  state_.coverage = fraction(takes.seen_in_epoch, epoch_size_);
  state_.epochs_passed = static_cast<double>(takes.epoch_index) + fraction(takes.passed_in_epoch, epoch_size_);
  state_.progress = std::min(1.0, progress_at(takes.epoch_index, takes.passed_in_epoch));
  state_.loss = feedback.loss;
  state_.vram_fraction = feedback.vram_fraction;
  if (!std::isfinite(feedback.loss))
    return;
  state_.loss_ema = std::isnan(state_.loss_ema)
                        ? feedback.loss
                        : loss_smoothing * state_.loss_ema + (1 - loss_smoothing) * feedback.loss;
}

void Progression::Impl::done(const Feedback& feedback) {
  if (!pending_)
    throw Error(Error::Kind::failed, "a step was counted as done that had not been planned");
  const PlannedStep step = std::move(*pending_);
  pending_.reset();
  sampler_ = *pending_sampler_;
  rate_ = *pending_rate_;
  count(step, feedback);
  if (shares_)
    shares_->add(feedback.stream_losses);
  set_next_shares();
  for (Course& course : left_)
    advance(course, state_);
  follow(schedule_->next(state_));
}

void Progression::Impl::set_next_shares() {
  if (shares_)
    sampler_.set_shares(shares_->after(state_.step));
}

void Progression::Impl::follow(const ScheduleAnswer& answer) {
  if (!answer.problem.empty()) {
    report(telemetry::ScheduleProblem{.reason = answer.problem, .batch = batch_});
    return;
  }
  batch_ = std::clamp(answer.batch, std::int64_t{1}, max_batch_);
  if (batch_ != answer.batch)
    report(telemetry::Clamp{.asked = answer.batch, .taken = batch_});
  else
    last_event_.reset();
}

void Progression::Impl::report(const decltype(ScheduleEvent::what)& what) {
  ScheduleEvent event{state_.step, what};
  if (on_event_ && !(last_event_ && is_same(last_event_->what, what)))
    on_event_(event);
  last_event_ = std::move(event);
}

void Progression::Impl::edit(const std::string& text, std::optional<std::int64_t> batch) {
  if (batch && (*batch < 1 || *batch > max_batch_))
    throw input_error(fmt::format("batch is {}; accepted: 1 to {}", *batch, max_batch_));
  const Course present = schedule_->base().value_or(Course{schedule_, batch_});
  ScheduleOrigin origin{batch.value_or(batch_), max_batch_, state_, options_.has_tokens, left_};
  origin.courses.push_back(present);
  std::shared_ptr<BatchSchedule> schedule = make_schedule(text, origin);
  schedule_text_ = schedule->text();
  batch_ = batch ? *batch : std::clamp(schedule->first_batch(origin), std::int64_t{1}, max_batch_);
  remember(present);
  schedule_ = std::move(schedule);
  // The base of the new schedule must not be advanced twice.
  if (const auto base = schedule_->base())
    std::erase_if(left_, [&](const Course& course) { return course.schedule == base->schedule; });
  last_event_.reset();
  pending_.reset();
}

void Progression::Impl::set_shares(const std::string& text) {
  const data::SamplerOptions& before = options_.sampler;
  if (!shares_)
    throw input_error("the run has one data source, which needs no shares");
  ShareSchedule shares(text, before.streams, before.clock);
  shares.set_losses(shares_->losses());
  ProgressionOptions options = options_;
  options.shares = text;
  options.sampler.shares = shares.after(state_.step);
  options.sampler.largest_clock_share = shares.largest(before.clock);
  options.batch = 1; // the present one is clamped
  const std::int64_t max_batch = bound_of(options);
  data::Sampler sampler(options.sampler);
  sampler.go_to(sampler_.position());
  options.batch = options_.batch;
  options_ = options;
  shares_ = shares;
  sampler_ = sampler;
  max_batch_ = max_batch;
  batch_ = std::min(batch_, max_batch);
  pending_.reset();
}

/// Keeps each text once, with its latest state, and a limited number.
void Progression::Impl::remember(const Course& course) {
  const std::string text = course.schedule->text();
  std::erase_if(left_, [&](const Course& left) { return left.schedule->text() == text; });
  left_.push_back(course);
  if (left_.size() > max_left)
    left_.erase(left_.begin());
}

namespace {

/// Earlier versions read the sizes that a problem has, too.
Json event_json(const ScheduleEvent& event) {
  const telemetry::EncodedEvent encoded = telemetry::encode(body_of(event));
  Json json{{"step", event.step}, {"kind", encoded.kind}};
  json.update(parse_json(encoded.detail_json));
  if (const auto* problem = std::get_if<telemetry::ScheduleProblem>(&event.what))
    json["asked"] = json["given"] = problem->batch.value_or(0);
  return json;
}

/// Nothing for one that this version does not know.
std::optional<ScheduleEvent> event_from_json(const Json& json) {
  const std::int64_t step = json.value("step", std::int64_t{0});
  const telemetry::EventBody body = telemetry::decode(text_member(json, "kind"), json_text(json));
  if (const auto* clamp = std::get_if<telemetry::Clamp>(&body))
    return ScheduleEvent{step, *clamp};
  const auto* problem = std::get_if<telemetry::ScheduleProblem>(&body);
  if (!problem)
    return std::nullopt;
  ScheduleEvent event{step, *problem};
  auto& batch = std::get<telemetry::ScheduleProblem>(event.what).batch;
  if (!batch)
    batch = json.value("given", std::int64_t{0}); // of an earlier version
  return event;
}

} // namespace

// The pending step is not stored: it follows from the rest.
Json Progression::Impl::state_json() const {
  const data::Sampler::Position position = sampler_.position();
  const auto warmed_up = rate_.progress_after_warmup();
  Json left = Json::array();
  for (const Course& course : left_)
    left.push_back(detail::to_json(course));
  Json at = {{"epoch_index", position.epoch_index},
             {"position", position.in_epoch},
             {"seen_in_total", position.seen_in_total}};
  if (shares_) {
    at["streams"] = position.streams;
    at["carried"] = position.carried;
    Json losses = Json::array();
    for (const double loss : shares_->losses())
      losses.push_back(json_number(loss));
    at["stream_losses"] = losses;
    at["shares"] = options_.shares;
  }
  return {{"sampler", at},
          {"progress_after_warmup", warmed_up ? Json(*warmed_up) : Json(nullptr)},
          {"state", detail::to_json(state_)},
          {"course", detail::to_json(Course{schedule_, batch_})},
          {"left", left},
          {"last_event", last_event_ ? event_json(*last_event_) : Json(nullptr)}};
}

void Progression::Impl::restore(const Json& json) {
  const Json& at = json.at("sampler");
  if (shares_ && at.contains("shares") && at["shares"] != options_.shares)
    set_shares(at["shares"].get<std::string>());
  data::Sampler sampler = sampler_;
  data::Sampler::Position position{.epoch_index = at.at("epoch_index").get<std::int64_t>(),
                                   .in_epoch = at.at("position").get<std::int64_t>(),
                                   .seen_in_total = at.at("seen_in_total").get<std::int64_t>()};
  std::optional<ShareSchedule> shares = shares_;
  if (shares) {
    position.streams = at.at("streams").get<std::vector<std::int64_t>>();
    position.carried = at.at("carried").get<std::vector<std::int64_t>>();
    std::vector<double> losses;
    for (const Json& loss : at.at("stream_losses"))
      losses.push_back(number_from_json(loss));
    shares->set_losses(losses);
  }
  sampler.go_to(position);
  std::optional<double> warmed_up;
  read_member(json, "progress_after_warmup", warmed_up);
  LearningRate rate(options_.learning_rate, warmed_up);
  const ScheduleState state = detail::state_from_json(json.at("state"));
  const Course course = detail::course_from_json(json.at("course"));
  if (state.step < 0 || course.batch < 1 || course.batch > max_batch_)
    throw input_error(
        fmt::format("a run at step {} with batch {}; accepted: batch 1 to {}", state.step, course.batch, max_batch_));
  std::vector<Course> left;
  if (const auto others = json.find("left"); others != json.end())
    for (const Json& each : *others)
      left.push_back(detail::course_from_json(each));
  const auto event = json.find("last_event");
  last_event_ = event == json.end() || event->is_null() ? std::nullopt : event_from_json(*event);
  shares_ = shares;
  sampler_ = sampler;
  rate_ = rate;
  state_ = state;
  set_next_shares();
  batch_ = course.batch;
  schedule_ = course.schedule;
  schedule_text_ = schedule_->text();
  left_ = std::move(left);
  pending_.reset();
}

void Progression::Impl::stand_alone() {
  on_event_ = {};
  schedule_ = detail::copy_of({schedule_, batch_}).schedule;
  for (Course& course : left_)
    course = detail::copy_of(course);
}

Progression::Progression(const ProgressionOptions& options, EventSink on_event)
    : impl_(std::make_unique<Impl>(options, std::move(on_event))) {}
Progression::Progression(const Progression& other) : impl_(std::make_unique<Impl>(*other.impl_)) {
  impl_->stand_alone();
}
Progression::~Progression() = default;
Progression::Progression(Progression&&) noexcept = default;
Progression& Progression::operator=(Progression&&) noexcept = default;

std::optional<PlannedStep> Progression::next() {
  return impl_->next();
}

void Progression::done(const Feedback& feedback) {
  impl_->done(feedback);
}

void Progression::edit(const std::string& schedule, std::optional<std::int64_t> batch) {
  impl_->edit(schedule, batch);
}

void Progression::make_next_with(std::int64_t batch) {
  impl_->make_next_with(batch);
}

void Progression::set_shares(const std::string& shares) {
  impl_->set_shares(shares);
}

const std::string& Progression::shares_text() const {
  return impl_->shares_text();
}

std::string Progression::state_json() const {
  return json_text(impl_->state_json());
}

void Progression::restore(const std::string& state_json) {
  const auto unreadable = [](const std::exception& error) {
    return input_error(fmt::format("the state of a run's plan cannot be read: {}", error.what()));
  };
  try {
    impl_->restore(parse_json(state_json));
  } catch (const Json::exception& error) {
    throw unreadable(error);
  } catch (const Error& error) {
    throw unreadable(error);
  }
}

bool Progression::epoch_ended() const {
  return impl_->epoch_ended();
}

std::int64_t Progression::steps_done() const {
  return impl_->state().step;
}

std::int64_t Progression::tokens_seen() const {
  return impl_->state().tokens_seen;
}

std::int64_t Progression::batch() const {
  return impl_->batch();
}

std::uint64_t Progression::planned_by_this_thread() {
  return planned_steps;
}

std::optional<double> Progression::add_gradient_norms(const GradientNorms& norms) {
  return impl_->add_gradient_norms(norms);
}

bool Progression::needs_feedback() const {
  return impl_->needs_feedback();
}

bool Progression::needs_length() const {
  return impl_->needs_length();
}

bool Progression::needs_noise() const {
  return impl_->needs_noise();
}

const std::string& Progression::schedule_text() const {
  return impl_->schedule_text();
}

} // namespace batchscope::schedule
