#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace batchscope::cli {

/// Adds an option whose value the verb parses itself, so that all error messages have the same form.
CLI::Option* add_value(CLI::App& app, const std::string& names, const std::string& placeholder,
                       const std::string& help);
/// The same for an option that may be given several times; Option::results() has all values.
CLI::Option* add_repeatable(CLI::App& app, const std::string& names, const std::string& placeholder,
                            const std::string& help);
/// The same for an option that takes all values up to the next option.
CLI::Option* add_list(CLI::App& app, const std::string& name, const std::string& placeholder, const std::string& help);
CLI::Option* add_switch(CLI::App& app, const std::string& names, const std::string& help);
/// Adds a positional argument, or several if `many`.
CLI::Option* add_argument(CLI::App& app, const std::string& name, const std::string& help, bool many = false);

/// The value of an option, if it was given; the typed variants throw Error (input) naming the option.
std::optional<std::string> text_of(const CLI::Option* option);
std::optional<std::int64_t> integer_of(const CLI::Option* option, std::int64_t lowest = 1,
                                       std::int64_t highest = std::numeric_limits<std::int64_t>::max());
/// Values of a repeatable argument: positive numbers in the order given, each once; empty if it was not given.
std::vector<std::int64_t> integers_of(const CLI::Option* option);
std::optional<double> number_of(const CLI::Option* option);
/// Comma-separated values.
std::vector<std::string> list_of(const CLI::Option* option);

/// Throws Error (input) if the option was not given.
void require(const CLI::Option* option, const std::string& accepted);
/// Throws Error (input) if both were given.
void exclude(const CLI::Option* one, const CLI::Option* other);

/// Parses the command line; returns true if help or version was requested and printed. Throws Error (input), in one
/// line, for errors of CLI11, for options given twice and for options without their value.
bool parse(CLI::App& program, int argc, const char* const* argv);

} // namespace batchscope::cli
