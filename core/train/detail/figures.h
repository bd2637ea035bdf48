#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

namespace batchscope::train {

/// Numbers that a device computes, on their way to the host: the device goes on meanwhile, and so can the host until it
/// needs them. One thread.
class Figures {
public:
  /// `most`: numbers at a time.
  Figures(const c10::Device& device, std::int64_t most);

  /// Sends these scalars, and the elements of these vectors, in this order; they replace what was sent before.
  void send(const std::vector<at::Tensor>& numbers);
  /// Returns the numbers that were sent last. Waits, once, until the device has computed them. Zeros on `meta`.
  const std::vector<double>& read();

private:
  c10::Device device_;
  at::Tensor arrived_; ///< in host memory that a GPU can write to
  std::optional<c10::Event> event_;
  std::int64_t count_ = 0;
  bool read_ = true;
  std::vector<double> values_;
};

} // namespace batchscope::train
