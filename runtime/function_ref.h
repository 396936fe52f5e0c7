// A function that a caller lends for the time of a call, with what it needs: nothing is copied or
// kept, as std::function does.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace runtime {

template <typename Signature>
class FunctionRef;

template <typename Result, typename... Arguments>
class FunctionRef<Result(Arguments...)> {
public:
  /// The function must outlive this.
  template <typename Function>
  requires(!std::is_same_v<std::remove_cvref_t<Function>, FunctionRef> &&
           std::is_invocable_r_v<Result, Function&, Arguments...>) FunctionRef(Function&& function)
      : function_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* lent, Arguments... arguments) -> Result {
          auto& called = *static_cast<std::remove_reference_t<Function>*>(lent);
          return called(std::forward<Arguments>(arguments)...);
        }) {}

  Result operator()(Arguments... arguments) const {
    return call_(function_, std::forward<Arguments>(arguments)...);
  }

private:
  void* function_;
  Result (*call_)(void*, Arguments...);
};

} // namespace runtime
