#pragma once

#include <csignal>
#include <initializer_list>
#include <utility>
#include <vector>

namespace batchscope {

/// While it lives, signals do what is given for them (a handler, or SIG_IGN); afterwards what they did before. Those
/// that were ignored before stay so: a shell starts what runs in the background of a script that way.
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
