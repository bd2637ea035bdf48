#include "app/signal_actions.h"

namespace batchscope {

SignalActions::SignalActions(Actions actions) {
  before_.reserve(actions.size());
  for (const auto& [signal, handler] : actions) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN)
      continue;
    before_.emplace_back(signal, before);
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

SignalActions::~SignalActions() {
  for (const auto& [signal, before] : before_)
    sigaction(signal, &before, nullptr);
}

} // namespace batchscope
