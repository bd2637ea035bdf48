#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/advice/snippet.h"

namespace batchscope::advice::detail {

/// Arguments of a call in Python; a value is an expression.
using Arguments = std::vector<std::pair<std::string, std::string>>;

/// Python's `True` or `False`.
std::string python(bool value);
/// Python's notation of a finite number.
std::string python(double value);

/// The lines of comment that every snippet begins with: heading and remarks, and `more`.
std::string comments(const Settings& settings, const std::vector<std::string>& more = {});
/// Whether forward passes ran in 16 bit.
bool is_mixed(const Settings& settings);
/// The line that lets products in fp32 run in TF32, if the run did; of `torch`.
std::string float_setting(const Settings& settings);
/// `target = function(` with an argument on each line.
std::string call(const std::string& target, const std::string& function, const Arguments& arguments);

/// Arguments for TrainingArguments of Hugging Face and for classes derived from it.
Arguments training_arguments(const Settings& settings);
/// Remarks on settings for which the Trainer has no argument.
std::vector<std::string> trainer_remarks(const Settings& settings);

/// An expression that makes the optimizer of `parameters`.
std::string optimizer(const Settings& settings, const std::string& parameters);
/// `import math` and an empty line, if rate_function() needs it.
std::string rate_imports(const Settings& settings);
/// The definition of the function `rate`, the factor of the learning rate at an optimizer step.
std::string rate_function(const Settings& settings);
/// An expression that makes the loss function, label smoothing included.
std::string loss_function(const Settings& settings);

} // namespace batchscope::advice::detail
