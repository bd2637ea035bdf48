#include "core/model/detail/autocast.h"

#include <ATen/autocast_mode.h>

namespace batchscope::model {

Autocast::Autocast(c10::Device device, c10::ScalarType type) : device_(device), changed_(type != c10::kFloat) {
  if (!changed_)
    return;
  if (device_.is_meta()) {
    on_meta_.emplace(type);
    return;
  }
  enabled_before_ = at::autocast::is_autocast_enabled(device_.type());
  before_ = at::autocast::get_autocast_dtype(device_.type());
  at::autocast::set_autocast_enabled(device_.type(), true);
  at::autocast::set_autocast_dtype(device_.type(), type);
  at::autocast::increment_nesting();
}

Autocast::~Autocast() {
  if (!changed_ || on_meta_)
    return;
  if (at::autocast::decrement_nesting() == 0)
    at::autocast::clear_cache(); // copies of the weights
  at::autocast::set_autocast_enabled(device_.type(), enabled_before_);
  at::autocast::set_autocast_dtype(device_.type(), before_);
}

c10::ScalarType Autocast::type_on(c10::Device device) {
  if (device.is_meta())
    return meta::AutocastScope::type();
  return at::autocast::is_autocast_enabled(device.type()) ? at::autocast::get_autocast_dtype(device.type())
                                                          : c10::kFloat;
}

} // namespace batchscope::model
