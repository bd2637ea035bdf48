#pragma once

#include <vector>

namespace batchscope {

/// The middle one of at least one value, or the mean of the two middle ones. No value may be NaN.
double median(std::vector<double> values);

} // namespace batchscope
