// Calls of programs that are linked in. The first call reads the program; contexts are kept for the
// calls that come, as many as were made at once. What is made here stays as long as the process.
#include "vm/rt/linked.h"

#include <mutex>
#include <vector>

namespace {

/// What a program that was called has.
struct State {
  baton_model* model = nullptr;
  std::mutex mutex = {};
  std::vector<baton_context*> idle = {};
};

std::mutex opening;

baton_error* stateOf(baton_program& program, State*& state) {
  std::lock_guard lock(opening);
  state = static_cast<State*>(program.state);
  if (state)
    return nullptr;
  baton_model* model = nullptr;
  if (baton_error* error = rt::openLinked(program, &model))
    return error;
  program.state = state = new State{model};
  return nullptr;
}

/// A context for one call.
class Borrowed {
public:
  Borrowed(State& state, baton_error*& error) : state_(state) {
    std::lock_guard lock(state.mutex);
    if (state.idle.empty()) {
      error = baton_context_new(state.model, nullptr, &context_);
      state.idle.reserve(state.idle.capacity() + 1);
    } else {
      context_ = state.idle.back();
      state.idle.pop_back();
    }
  }
  Borrowed(const Borrowed&) = delete;
  ~Borrowed() {
    if (!context_)
      return;
    std::lock_guard lock(state_.mutex);
    if (state_.idle.size() < state_.idle.capacity())
      state_.idle.push_back(context_);
    else
      baton_context_free(context_);
  }
  baton_context* get() const { return context_; }

private:
  State& state_;
  baton_context* context_ = nullptr;
};

/// A tensor of the caller's, which is given back to it when the call failed, whatever was done with
/// it by then.
struct Lent {
  enum class State { Lent, GivenUp, Taken, Orphaned };

  DLManagedTensor shown;
  DLManagedTensor* whole;
  State state = State::Lent;

  explicit Lent(DLManagedTensor* tensor) : shown{tensor->dl_tensor, this, letGo}, whole(tensor) {}

  static void giveBack(DLManagedTensor* tensor) {
    if (tensor->deleter)
      tensor->deleter(tensor);
  }

  static void letGo(DLManagedTensor* self) {
    auto* lent = static_cast<Lent*>(self->manager_ctx);
    if (lent->state == State::Lent) {
      lent->state = State::GivenUp;
      return;
    }
    if (lent->state == State::Taken)
      giveBack(lent->whole);
    delete lent;
  }

  void end(bool isTaken) {
    if (state == State::Lent) {
      state = isTaken ? State::Taken : State::Orphaned;
      return;
    }
    if (isTaken)
      giveBack(whole);
    delete this;
  }
};

/// The values of a call, which are freed at its end.
class Values {
public:
  Values() = default;
  Values(const Values&) = delete;
  ~Values() { free(); }

  baton_error* take(DLManagedTensor* const* tensors, size_t count) {
    lent_.reserve(count);
    values_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      Lent* lent = tensors[i] ? new Lent(tensors[i]) : nullptr;
      baton_value* value = nullptr;
      if (baton_error* error = baton_value_from_dlpack(lent ? &lent->shown : nullptr, &value)) {
        delete lent;
        return error;
      }
      lent_.push_back(lent);
      values_.push_back(value);
    }
    return nullptr;
  }

  baton_error* call(baton_context* context, size_t entry) {
    return baton_call(context, entry, values_.data(), values_.size(), &result_);
  }

  /// Gives the tensors of the result; none when it fails.
  baton_error* give(DLManagedTensor** results, size_t count) {
    std::vector<DLManagedTensor*> given(count);
    baton_error* error = nullptr;
    for (size_t i = 0; i < count && !error; ++i) {
      const bool isTensor = baton_value_kind(result_) == BATON_TENSOR;
      baton_value* field = isTensor ? nullptr : baton_value_field(result_, i);
      error = baton_value_to_dlpack(isTensor ? result_ : field, &given[i]);
      baton_value_free(field);
    }
    for (size_t i = 0; i < count; ++i)
      if (!error)
        results[i] = given[i];
      else if (given[i])
        given[i]->deleter(given[i]);
    isDone_ = !error;
    return error;
  }

private:
  void free() {
    baton_value_free(result_);
    for (const baton_value* value : values_)
      baton_value_free(const_cast<baton_value*>(value));
    for (Lent* lent : lent_)
      lent->end(isDone_);
  }

  std::vector<Lent*> lent_;
  std::vector<const baton_value*> values_;
  baton_value* result_ = nullptr;
  bool isDone_ = false;
};

struct Call {
  baton_program* program;
  size_t entry;
  DLManagedTensor* const* arguments;
  size_t argumentCount;
  DLManagedTensor** results;
  size_t resultCount;
};

baton_error* perform(void* with) {
  const Call& call = *static_cast<const Call*>(with);
  State* state = nullptr;
  if (baton_error* error = stateOf(*call.program, state))
    return error;
  baton_error* error = nullptr;
  Borrowed context(*state, error);
  if (error)
    return error;
  Values values;
  if ((error = values.take(call.arguments, call.argumentCount)) ||
      (error = values.call(context.get(), call.entry)))
    return error;
  return values.give(call.results, call.resultCount);
}

} // namespace

baton_error* baton_program_call(baton_program* program, size_t entry,
                                DLManagedTensor* const* arguments, size_t argumentCount,
                                DLManagedTensor** results, size_t resultCount) {
  Call call{program, entry, arguments, argumentCount, results, resultCount};
  return rt::withoutExceptions(perform, &call);
}
