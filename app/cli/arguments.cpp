#include "app/cli/arguments.h"

#include <cstdio>
#include <limits>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace batchscope::cli {

namespace {

/// Marks options that may be given several times; what CLI11 makes of their values is not used.
constexpr auto repeatable = CLI::MultiOptionPolicy::Join;

std::string name_of(const CLI::Option* option) {
  return option->get_name(false, false);
}

CLI::App& parsed_verb(CLI::App& program) {
  const auto verbs = program.get_subcommands();
  return verbs.empty() ? program : *verbs.front();
}

std::string verbs_of(CLI::App& program) {
  std::vector<std::string> names;
  for (const auto* verb : program.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    if (!option->get_positional())
      names.push_back(name_of(option));
  return fmt::format("{}", fmt::join(names, ", "));
}

/// For arguments that no option took.
Error unexpected(CLI::App& program) {
  const auto left_over = program.remaining(true);
  const std::string first = left_over.empty() ? std::string() : left_over.front();
  CLI::App& verb = parsed_verb(program);
  if (first.starts_with('-'))
    return input_error(
        fmt::format("unknown option {}; accepted: {}", shortened(first.substr(0, first.find('='))), options_of(verb)));
  if (&verb == &program)
    return input_error(fmt::format("unknown verb {}; accepted: {}", in_quotes(first), verbs_of(program)));
  return input_error(
      fmt::format("unexpected argument {}; see batchscope-cli {} --help", in_quotes(first), verb.get_name()));
}

void check_values(const CLI::App& app) {
  for (const auto* option : app.get_options()) {
    const bool takes_value = option->get_items_expected_max() > 0;
    const bool once = option->get_items_expected_max() == 1 && option->get_multi_option_policy() != repeatable;
    if (takes_value && once && option->count() > 1)
      throw input_error(fmt::format("{}: given {} times; accepted: at most once", name_of(option), option->count()));
    for (const auto& value : option->results())
      if (takes_value && value.starts_with("--"))
        throw input_error(
            fmt::format("{}: a value is missing, {} is given instead", name_of(option), in_quotes(value)));
  }
}

Error translated(CLI::App& program, const CLI::ParseError& error) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    // An option that took the next option as its value leaves that one's value over.
    check_values(program);
    check_values(parsed_verb(program));
    return unexpected(program);
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) && text.find("required") != std::string::npos)
    return input_error(text.substr(0, text.find(':')) + ": a value is missing");
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) && text.find("flag override") != std::string::npos)
    return input_error("--" + text.substr(0, text.find(' ')) + " takes no value");
  return input_error(text.substr(0, text.find('\n')));
}

} // namespace

CLI::Option* add_value(CLI::App& app, const std::string& names, const std::string& placeholder,
                       const std::string& help) {
  // TakeAll leaves it to check_values() to say that an option was given twice.
  return app.add_option(names, CLI::callback_t(), help)
      ->type_name(placeholder)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* add_repeatable(CLI::App& app, const std::string& names, const std::string& placeholder,
                            const std::string& help) {
  return add_value(app, names, placeholder, help)->multi_option_policy(repeatable);
}

CLI::Option* add_list(CLI::App& app, const std::string& name, const std::string& placeholder, const std::string& help) {
  return app.add_option(name, CLI::callback_t(), help)
      ->type_name(placeholder)
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args();
}

CLI::Option* add_switch(CLI::App& app, const std::string& names, const std::string& help) {
  return app.add_flag(names, help)->disable_flag_override();
}

CLI::Option* add_argument(CLI::App& app, const std::string& name, const std::string& help, bool many) {
  auto* option = app.add_option(name, CLI::callback_t(), help)->type_name("");
  return many ? option->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args() : option->expected(1);
}

std::optional<std::string> text_of(const CLI::Option* option) {
  if (option->count() == 0)
    return std::nullopt;
  return option->results().front();
}

std::optional<std::int64_t> integer_of(const CLI::Option* option, std::int64_t lowest, std::int64_t highest) {
  const auto text = text_of(option);
  if (!text)
    return std::nullopt;
  return parse_integer(*text, name_of(option), lowest, highest);
}

std::vector<std::int64_t> integers_of(const CLI::Option* option) {
  std::vector<std::int64_t> values;
  std::set<std::int64_t> seen;
  for (const auto& text : option->results()) {
    const std::int64_t value = parse_integer(text, name_of(option), 1, std::numeric_limits<std::int64_t>::max());
    if (seen.insert(value).second)
      values.push_back(value);
  }
  return values;
}

std::optional<double> number_of(const CLI::Option* option) {
  const auto text = text_of(option);
  if (!text)
    return std::nullopt;
  return parse_number(*text, name_of(option));
}

std::vector<std::string> list_of(const CLI::Option* option) {
  std::vector<std::string> values;
  const auto text = text_of(option);
  if (!text)
    return values;
  std::size_t begin = 0;
  for (std::size_t comma = 0; comma != std::string::npos; begin = comma + 1) {
    comma = text->find(',', begin);
    values.push_back(text->substr(begin, comma == std::string::npos ? comma : comma - begin));
    if (values.back().empty())
      throw input_error(fmt::format("{}: {} has an empty item; accepted: values separated by commas", name_of(option),
                                    in_quotes(*text)));
  }
  return values;
}

void require(const CLI::Option* option, const std::string& accepted) {
  if (option->count() == 0)
    throw input_error(fmt::format("{} is missing; accepted: {}", name_of(option), accepted));
}

void exclude(const CLI::Option* one, const CLI::Option* other) {
  if (one->count() > 0 && other->count() > 0)
    throw input_error(fmt::format("{} and {} are both given; accepted: one of them", name_of(one), name_of(other)));
}

bool parse(CLI::App& program, int argc, const char* const* argv) {
  try {
    program.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::fputs(program.help().c_str(), stdout);
    return true;
  } catch (const CLI::CallForVersion& version) {
    std::printf("%s\n", version.what());
    return true;
  } catch (const CLI::ParseError& error) {
    throw translated(program, error);
  }
  CLI::App& verb = parsed_verb(program);
  check_values(program);
  if (&verb == &program)
    throw input_error(fmt::format("no verb is given; accepted: {}", verbs_of(program)));
  check_values(verb);
  return false;
}

} // namespace batchscope::cli
