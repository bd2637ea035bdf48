#pragma once

#include <csignal>
#include <initializer_list>
#include <utility>
#include <vector>

namespace batchscope {

/// Sets the given signal actions (a handler, or SIG_IGN) while it lives, and restores the earlier ones afterwards. A
/// signal that was ignored before stays ignored: a shell starts background jobs of a script that way.
class SignalActions {
public:
  using Actions = std::initializer_list<std::pair<int, void (*)(int)>>;

  SignalActions(Actions actions);
  ~SignalActions();
  SignalActions(const SignalActions&) = delete;
  SignalActions& operator=(const SignalActions&) = delete;

private:
  std::vector<std::pair<int, struct sigaction>> before_;
};

} // namespace batchscope
