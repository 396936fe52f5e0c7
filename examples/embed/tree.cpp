// Hands trees to an executable and takes them out: tree MODEL.bvm
//
//   baton compile examples/embed/tree.rly --entry main --entry mirrored -o tree.bvm
//   c++ -std=c++20 -I. examples/embed/tree.cpp -L build -lbaton_rt -o tree
#include "vm/rt/baton_rt.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

namespace {

using Value = std::unique_ptr<baton_value, void (*)(baton_value*)>;

/// A tensor that owns its elements.
struct Array {
  DLManagedTensor managed = {};
  std::vector<int64_t> shape;
  std::vector<float> elements;
};

/// Gives up the error, if it is one, with what it says.
bool isRefused(baton_error* error) {
  if (error)
    std::printf("refused: %s\n", baton_error_message(error));
  baton_error_free(error);
  return error;
}

Value tensor(std::vector<int64_t> shape, std::vector<float> elements) {
  auto* array = new Array{{}, std::move(shape), std::move(elements)};
  DLTensor& shown = array->managed.dl_tensor;
  shown.data = array->elements.data();
  shown.device.device_type = 1;
  shown.ndim = int32_t(array->shape.size());
  shown.dtype = {2, 32, 1};
  shown.shape = array->shape.data();
  array->managed.manager_ctx = array;
  array->managed.deleter = [](DLManagedTensor* self) {
    delete static_cast<Array*>(self->manager_ctx);
  };
  baton_value* value = nullptr;
  if (isRefused(baton_value_from_dlpack(&array->managed, &value)))
    std::exit(1);
  return {value, baton_value_free};
}

class Network {
public:
  explicit Network(const char* path) {
    if (isRefused(baton_model_load(path, &model_)) ||
        isRefused(baton_context_new(model_, nullptr, &context_)))
      std::exit(1);
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;
  ~Network() {
    baton_context_free(context_);
    baton_model_free(model_);
  }

  /// Of no value when it is refused.
  Value make(const char* constructor, const std::vector<const baton_value*>& fields) {
    baton_value* value = nullptr;
    isRefused(baton_value_constructor(model_, constructor, fields.data(), fields.size(), &value));
    return {value, baton_value_free};
  }
  Value word(std::vector<float> elements) {
    auto size = int64_t(elements.size());
    Value vector = tensor({size}, std::move(elements));
    return make("Word", {vector.get()});
  }
  Value pair(const Value& left, const Value& right) {
    return make("Pair", {left.get(), right.get()});
  }
  Value state(const Value& phrase) { return call("main", {phrase.get(), weight_.get()}); }
  Value mirrored(const Value& phrase) { return call("mirrored", {phrase.get()}); }
  Value call(std::string_view function, const std::vector<const baton_value*>& arguments) {
    size_t entry = 0;
    while (entry < baton_model_entries(model_) && baton_model_entry(model_, entry) != function)
      ++entry;
    baton_value* result = nullptr;
    isRefused(baton_call(context_, entry, arguments.data(), arguments.size(), &result));
    return {result, baton_value_free};
  }

private:
  baton_model* model_ = nullptr;
  baton_context* context_ = nullptr;
  Value weight_ = tensor({3, 6}, {1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 1, 0, 0, 2});
};

void show(const Value& state) {
  DLManagedTensor* shown = nullptr;
  if (isRefused(baton_value_to_dlpack(state.get(), &shown)))
    return;
  const auto* elements = static_cast<const float*>(shown->dl_tensor.data);
  std::printf("%.3f %.3f %.3f\n", elements[0], elements[1], elements[2]);
  shown->deleter(shown);
}

} // namespace

int main(int count, char** words) {
  if (count != 2)
    return 2;
  Network network(words[1]);
  Value a = network.word({1, 0, 0}), b = network.word({0, 1, 0}), c = network.word({0, 0, 1});
  Value phrase = network.pair(a, network.pair(b, c));
  show(network.state(phrase));
  // What a call gives may be handed in again.
  show(network.state(network.mirrored(phrase)));
  Value deep = network.pair(a, b);
  for (int i = 0; i < 100'000; ++i)
    deep = network.pair(c, deep);
  show(network.state(network.mirrored(network.mirrored(deep))));
  network.make("Sentence", {a.get()});
  network.state(network.make("Pair", {a.get()}));
  network.state(network.word({1, 2}));
  network.mirrored(tensor({3}, {1, 2, 3}));
  network.call("turned", {a.get()});
}
