#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace batchscope::cli {

/// Adds an option whose text is read by the verb itself, so that every message has one form.
CLI::Option* add_value(CLI::App& app, const std::string& names, const std::string& placeholder,
                       const std::string& help);
CLI::Option* add_switch(CLI::App& app, const std::string& names, const std::string& help);
/// A positional argument, or several where `many`.
CLI::Option* add_argument(CLI::App& app, const std::string& name, const std::string& help, bool many = false);

/// What was given for an option, if it was; the others throw Error (input) naming the option.
std::optional<std::string> text_of(const CLI::Option* option);
std::optional<std::int64_t> integer_of(const CLI::Option* option, std::int64_t lowest = 1,
                                       std::int64_t highest = std::numeric_limits<std::int64_t>::max());
/// Of an argument that may be given many times: positive numbers, none where it was not given.
std::vector<std::int64_t> integers_of(const CLI::Option* option);
std::optional<double> number_of(const CLI::Option* option);
/// Values between commas.
std::vector<std::string> list_of(const CLI::Option* option);

/// Throws Error (input) where the option was not given.
void require(const CLI::Option* option, const std::string& accepted);
/// Throws Error (input) where both were given.
void exclude(const CLI::Option* one, const CLI::Option* other);

/// Parses; true where help or the version was asked for and has been printed. Throws Error (input), in one line, for
/// what CLI11 refuses, for options given twice and for options whose value was forgotten.
bool parse(CLI::App& program, int argc, const char* const* argv);

} // namespace batchscope::cli
