// Calls an executable from several threads of a C++ program, each with a context of its own and
// other sizes: threads MODEL.bvm
#include "vm/rt/baton_rt.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace {

void demand(baton_error* error) {
  if (!error)
    return;
  std::fprintf(stderr, "%s\n", baton_error_message(error));
  std::exit(1);
}

template <auto release>
struct Release {
  template <typename T>
  void operator()(T* handle) const {
    release(handle);
  }
};
using Model = std::unique_ptr<baton_model, Release<baton_model_free>>;
using Context = std::unique_ptr<baton_context, Release<baton_context_free>>;
using Value = std::unique_ptr<baton_value, Release<baton_value_free>>;

/// A matrix of ones, which lives as long as the value.
struct Ones {
  std::vector<float> elements;
  int64_t shape[2];
  DLManagedTensor managed = {};

  static Value make(int64_t rows, int64_t columns) {
    auto* ones = new Ones{std::vector<float>(size_t(rows * columns), 1), {rows, columns}};
    ones->managed.dl_tensor = {ones->elements.data(), {1, 0},  2, {2, 32, 1},
                               ones->shape,           nullptr, 0};
    ones->managed.manager_ctx = ones;
    ones->managed.deleter = [](DLManagedTensor* self) {
      delete static_cast<Ones*>(self->manager_ctx);
    };
    baton_value* value;
    demand(baton_value_from_dlpack(&ones->managed, &value));
    return Value(value);
  }
};

/// The sum of the scores of so many rows.
double sumOfScores(baton_model* model, int64_t rows) {
  baton_context* made;
  demand(baton_context_new(model, nullptr, &made));
  Context context(made);
  Value x = Ones::make(rows, 3), weight = Ones::make(5, 3);
  double sum = 0;
  for (int round = 0; round < 200; ++round) {
    const baton_value* arguments[] = {x.get(), weight.get()};
    baton_value* result;
    demand(baton_call(context.get(), 0, arguments, 2, &result));
    Value owned(result), scores(baton_value_field(result, 0));
    DLManagedTensor* shown;
    demand(baton_value_to_dlpack(scores.get(), &shown));
    sum = 0;
    for (int64_t i = 0; i < rows * 5; ++i)
      sum += static_cast<float*>(shown->dl_tensor.data)[i];
    shown->deleter(shown);
  }
  return sum;
}

} // namespace

int main(int count, char** words) {
  if (count != 2)
    return 2;
  baton_model* loaded;
  demand(baton_model_load(words[1], &loaded));
  Model model(loaded);
  constexpr int64_t threadCount = 4;
  std::vector<double> sums(threadCount);
  {
    std::vector<std::jthread> threads;
    for (int64_t i = 0; i < threadCount; ++i)
      threads.emplace_back([&, i] { sums[size_t(i)] = sumOfScores(model.get(), i + 1); });
  }
  for (double sum : sums)
    std::printf("%g\n", sum);
}
