// Buffers of tensors: who shares them, when they go, and values that lie in them.
#include "runtime/memory.h"
#include "runtime/value.h"

#include <catch2/catch.hpp>
#include <optional>
#include <thread>

using runtime::Tensor;
using runtime::Value;

namespace {

Tensor numbers(std::vector<int32_t> elements) {
  Tensor tensor(runtime::Int32, {int64_t(elements.size())});
  std::ranges::copy(elements, tensor.elements<int32_t>().begin());
  return tensor;
}

} // namespace

TEST_CASE("foreign elements are given back once, when nothing shows them any more") {
  std::vector<int32_t> elements{1, 2, 3, 4};
  int released = 0;
  auto release = [](void* owner) { ++*static_cast<int*>(owner); };
  {
    std::optional tensor = Tensor::over(
        runtime::Int32, {4}, reinterpret_cast<std::byte*>(elements.data()), release, &released);
    Tensor matrix = tensor->reshaped(runtime::Shape{2, 2});
    CHECK(matrix.bytes() == reinterpret_cast<std::byte*>(elements.data()));
    Value value = runtime::tensorValue(*std::move(tensor));
    tensor.reset();
    CHECK(value.tensor().elements<int32_t>()[3] == 4);
    matrix = Tensor();
    CHECK(released == 0);
    int32_t seen = 0;
    std::jthread([&seen, copy = value.tensor()] { seen = copy.elements<int32_t>()[1]; }).join();
    CHECK(seen == 2);
    CHECK(released == 0);
  }
  CHECK(released == 1);
}

TEST_CASE("a tensor outlives the value that lies in its buffer") {
  int64_t before = runtime::heldMemory();
  {
    Tensor tensor;
    {
      Value value = runtime::tensorValue(numbers({1, 2, 3}));
      tensor = value.tensor();
    }
    // The room is free again for the next one.
    Value value = runtime::tensorValue(std::move(tensor));
    Value other = runtime::tensorValue(value.tensor());
    value = Value();
    CHECK(other.tensor().elements<int32_t>()[2] == 3);
  }
  CHECK(runtime::heldMemory() == before);
}

TEST_CASE("overwriting a tensor leaves those alone that shared its elements") {
  int64_t before = runtime::heldMemory();
  {
    Value target = runtime::tensorValue(numbers({1, 2, 3}));
    target.makeWritable();
    Value view = runtime::tensorValue(target.tensor().reshaped(runtime::Shape{3}));
    CHECK(runtime::overwrite(target, runtime::tensorValue(numbers({4, 5, 6}))));
    CHECK(target.tensor().elements<int32_t>()[0] == 4);
    CHECK(view.tensor().elements<int32_t>()[0] == 1);
    CHECK(runtime::overwrite(target, view));
    CHECK(!runtime::overwrite(view, target));
    view = Value();
    CHECK(target.tensor().elements<int32_t>()[0] == 1);
  }
  CHECK(runtime::heldMemory() == before);
}
