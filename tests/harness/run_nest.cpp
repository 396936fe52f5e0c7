// Forms are evaluated anew at every place; this is for small sizes.
#include "tests/harness/run_nest.h"

#include "lower/loops/build.h"
#include "lower/loops/names.h"
#include "lower/tensor/outside.h"
#include "runtime/element.h"
#include "runtime/scalar.h"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <stdexcept>

namespace harness {

namespace {

using namespace loops;
using runtime::Fault;
using runtime::Tensor;

struct Number {
  double real = 0;
  int64_t whole = 0;
};

struct Failed {
  Fault fault;
};

[[noreturn]] void fail(std::string problem) {
  throw Failed{{runtime::FaultKind::Data, std::move(problem)}};
}

class Run {
public:
  Run(const Nest& nest, std::span<const int64_t> sizes) : nest_(nest) {
    names_.resize(nest.table.nameCount());
    for (size_t i = 0; i < sizes.size(); ++i)
      names_[size_t(nest.sizes[i].size)] = sizes[i];
    tensors_.resize(nest.buffers.size());
  }

  NestRun run(std::span<const runtime::Value> inputs) {
    try {
      size_t next = 0;
      for (size_t i = 0; i < nest_.buffers.size(); ++i)
        if (nest_.buffers[i].space == Space::Input)
          tensors_[i] = reshaped(inputs[next++], shapeOf(uint32_t(i))).tensor();
        else if (nest_.buffers[i].space == Space::Output)
          allocate(uint32_t(i));
      nodes(nest_.body);
    } catch (Failed& failed) {
      return {{}, std::move(failed.fault)};
    }
    NestRun run;
    for (size_t i = 0; i < nest_.buffers.size(); ++i)
      if (nest_.buffers[i].space == Space::Output)
        run.results.push_back(runtime::tensorValue(std::move(tensors_[i])));
    return run;
  }

private:
  int64_t at(Form form) const {
    auto value = nest_.table.valueOf(form, names_);
    if (!value)
      fail(fmt::format("`{}` passes 64 bits, or divides by zero", nest_.table.text(form)));
    return *value;
  }

  runtime::Shape shapeOf(uint32_t buffer) const {
    runtime::Shape shape;
    for (Form extent : nest_.buffers[buffer].extents)
      shape.push_back(std::max<int64_t>(at(extent), 0));
    return shape;
  }

  void allocate(uint32_t buffer) {
    DType dtype = nest_.buffers[buffer].dtype;
    tensors_[buffer] = Tensor(dtype, shapeOf(buffer));
    std::memset(tensors_[buffer].bytes(), dtype.isBool() ? 1 : 0x7f, tensors_[buffer].byteSize());
  }

  void nodes(const std::vector<Node>& body) {
    for (const Node& node : body)
      if (const auto* loop = std::get_if<Loop>(&node.what))
        this->loop(*loop, node.body);
      else if (const auto* condition = std::get_if<Condition>(&node.what)) {
        if (at(condition->left) < at(condition->right))
          nodes(node.body);
      } else if (const auto* allocation = std::get_if<Allocation>(&node.what))
        allocate(allocation->buffer);
      else
        statement(std::get<Statement>(node.what));
  }

  void loop(const Loop& loop, const std::vector<Node>& body) {
    int64_t end = at(loop.end);
    bool isAtOnce = loop.kind != RunKind::Serial && loop.kind != RunKind::Unrolled;
    for (int64_t i = 0; i < end; ++i) {
      names_[size_t(loop.variable)] = isAtOnce ? end - 1 - i : i;
      nodes(body);
    }
  }

  void statement(const Statement& statement) {
    statement_ = &statement;
    known_.assign(statement.operations.size(), std::nullopt);
    std::vector<Number> values;
    for (const Store& store : statement.stores)
      values.push_back(value(store.value));
    if (statement.combiner && findsPlace(*statement.combiner))
      return joinPlace(statement, values);
    const Store& store = statement.stores[0];
    Number made = values[0];
    if (statement.combiner)
      made = joined(*statement.combiner, nest_.buffers[store.buffer].dtype,
                    read(store.buffer, store.position), made);
    write(store, made);
  }

  std::byte* element(uint32_t buffer, std::span<const int64_t> position) {
    const Tensor& tensor = tensors_[buffer];
    int64_t flat = 0;
    for (size_t i = 0; i < position.size(); ++i) {
      if (position[i] < 0 || position[i] >= tensor.shape()[i])
        throw std::logic_error("a place that was proven to be inside is outside");
      flat = flat * tensor.shape()[i] + position[i];
    }
    return tensors_[buffer].bytes() + size_t(flat) * tensor.dtype().bytes();
  }

  Number readAt(uint32_t buffer, std::span<const int64_t> position) {
    DType dtype = nest_.buffers[buffer].dtype;
    const std::byte* from = element(buffer, position);
    return dtype.isFloat() ? Number{runtime::readFloat(dtype, from), 0}
                           : Number{0, runtime::readWhole(dtype, from)};
  }

  std::vector<int64_t> positionOf(const std::vector<Form>& forms) const {
    std::vector<int64_t> position;
    for (Form form : forms)
      position.push_back(at(form));
    return position;
  }

  Number read(uint32_t buffer, const std::vector<Form>& forms) {
    return readAt(buffer, positionOf(forms));
  }

  void write(const Store& store, const Number& number) {
    DType dtype = nest_.buffers[store.buffer].dtype;
    std::byte* to = element(store.buffer, positionOf(store.position));
    if (dtype.isFloat())
      runtime::writeFloat(dtype, to, runtime::rounded(dtype, number.real));
    else
      runtime::writeWhole(dtype, to, runtime::wrap(dtype, uint64_t(number.whole)));
  }

  static Number joined(Combiner combiner, DType dtype, const Number& a, const Number& b) {
    static constexpr std::array functions{ScalarFunction::Add,        ScalarFunction::Multiply,
                                          ScalarFunction::Maximum,    ScalarFunction::Minimum,
                                          ScalarFunction::LogicalAnd, ScalarFunction::LogicalOr};
    ScalarFunction function = functions[size_t(combiner)];
    if (dtype.isFloat())
      return {runtime::realFunction(function, dtype, a.real, b.real), 0};
    return {0, runtime::wrap(dtype, runtime::wholeFunction(function, dtype, a.whole, b.whole, 0))};
  }

  void joinPlace(const Statement& statement, const std::vector<Number>& values) {
    const Store &place = statement.stores[0], &extreme = statement.stores[1];
    DType dtype = nest_.buffers[extreme.buffer].dtype;
    Number best = read(extreme.buffer, extreme.position);
    int64_t bestPlace = read(place.buffer, place.position).whole;
    bool beats, equals;
    bool isMaximum = *statement.combiner == Combiner::ArgMaximum ||
                     *statement.combiner == Combiner::ArgMaximumLast;
    bool isLast = *statement.combiner == Combiner::ArgMaximumLast ||
                  *statement.combiner == Combiner::ArgMinimumLast;
    if (dtype.isFloat()) {
      double a = values[1].real, b = best.real;
      beats = std::isnan(a) ? !std::isnan(b) : !std::isnan(b) && (isMaximum ? a > b : a < b);
      equals = std::isnan(a) ? std::isnan(b) : a == b;
    } else {
      auto a = runtime::wideOf(dtype, values[1].whole), b = runtime::wideOf(dtype, best.whole);
      beats = isMaximum ? a > b : a < b;
      equals = a == b;
    }
    bool isFurther = isLast ? values[0].whole > bestPlace : values[0].whole < bestPlace;
    if (!beats && !(equals && isFurther))
      return;
    write(place, values[0]);
    write(extreme, values[1]);
  }

  // Straight code, as far as it is needed.

  Number value(uint32_t place) {
    if (!known_[place])
      known_[place] = computed(statement_->operations[place]);
    return *known_[place];
  }

  Number computed(const Operation& operation) {
    switch (operation.kind) {
    case OperationKind::Number:
      return {operation.real, runtime::wrap(operation.dtype, uint64_t(operation.integer))};
    case OperationKind::Position:
      return {0, at(operation.position)};
    case OperationKind::Load:
      return load(operation);
    case OperationKind::Cast:
      return converted(operation.dtype, statement_->operations[operation.operands[0]].dtype,
                       value(operation.operands[0]));
    case OperationKind::Apply:
      return apply(operation);
    }
    throw std::logic_error("no operation");
  }

  Number load(const Operation& load) {
    const runtime::Shape& shape = tensors_[load.buffer].shape();
    std::vector<int64_t> position;
    for (size_t i = 0; i < load.places.size(); ++i) {
      const Place& place = load.places[i];
      int64_t at = place.value == none ? this->at(place.form) : value(place.value).whole;
      if (at < 0 || at >= shape[i]) {
        if (!load.operands.empty())
          return value(load.operands[0]);
        if (!place.isChecked)
          throw std::logic_error("a place that was proven to be inside is outside");
        fail(tensor::outsideText(at, i, shape[i]));
      }
      position.push_back(at);
    }
    return readAt(load.buffer, position);
  }

  static bool holds(DType dtype, const Number& number) {
    return dtype.isFloat() ? number.real != 0 : number.whole != 0;
  }

  static Number converted(DType to, DType from, const Number& number) {
    if (to.isBool())
      return {0, holds(from, number)};
    if (to.isFloat())
      return {from.isFloat() ? runtime::rounded(to, number.real)
                             : runtime::floatOf(to, runtime::wideOf(from, number.whole)),
              0};
    if (from.isFloat())
      return {0, runtime::wholeOf(to, number.real)};
    return {0, runtime::wrap(to, uint64_t(number.whole))};
  }

  Number apply(const Operation& apply) {
    DType from = statement_->operations[apply.operands[0]].dtype;
    Number a = value(apply.operands[0]);
    if (apply.function == ScalarFunction::Select)
      return value(apply.operands[holds(from, a) ? 1 : 2]);
    if (apply.function == ScalarFunction::Reinterpret)
      return reinterpreted(apply.dtype, from, a);
    Number b = apply.operands.size() > 1 ? value(apply.operands[1]) : Number{};
    Number c = apply.operands.size() > 2 ? value(apply.operands[2]) : Number{};
    if (from.isFloat()) {
      double made = runtime::realFunction(apply.function, from, a.real, b.real);
      return apply.dtype.isFloat() ? Number{runtime::rounded(apply.dtype, made), 0}
                                   : Number{0, made != 0};
    }
    if (runtime::scalarFunctionDivides(apply.function) && b.whole == 0)
      fail("integer division by zero");
    return {0, runtime::wrap(apply.dtype, runtime::wholeFunction(apply.function, from, a.whole,
                                                                 b.whole, c.whole))};
  }

  static Number reinterpreted(DType to, DType from, const Number& number) {
    std::byte bits[8] = {};
    if (from.isFloat())
      runtime::writeFloat(from, bits, number.real);
    else
      runtime::writeWhole(from, bits, number.whole);
    return to.isFloat() ? Number{runtime::readFloat(to, bits), 0}
                        : Number{0, runtime::readWhole(to, bits)};
  }

  const Nest& nest_;
  /// By name, the sizes and the loops that run.
  std::vector<int64_t> names_;
  std::vector<Tensor> tensors_;
  const Statement* statement_ = nullptr;
  std::vector<std::optional<Number>> known_;
};

} // namespace

runtime::Value reshaped(const runtime::Value& value, const runtime::Shape& shape) {
  const Tensor& tensor = value.tensor();
  if (tensor.shape() == shape)
    return value;
  Tensor made(tensor.dtype(), shape);
  if (made.size() != tensor.size())
    throw std::logic_error("a nest has another number of elements than what it is run on");
  std::memcpy(made.bytes(), tensor.bytes(), made.byteSize());
  return runtime::tensorValue(std::move(made));
}

NestRun runNest(const Nest& nest, std::span<const int64_t> sizes,
                std::span<const runtime::Value> inputs) {
  return Run(nest, sizes).run(inputs);
}

std::vector<int64_t> sizesOf(const Nest& nest, std::span<const runtime::Shape> shapes) {
  std::vector<int64_t> sizes(nest.sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    Form name = Nest(nest).table.name(nest.table.textOf(nest.sizes[i].size));
    for (size_t k = 0; k < shapes.size(); ++k)
      for (size_t d = 0; d < shapes[k].size(); ++d) {
        Nest scratch(nest);
        Form more = scratch.table.sum(scratch.buffers[k].extents[d], name, -1);
        if (auto number = scratch.table.constantOf(more))
          sizes[i] = shapes[k][d] - *number;
      }
  }
  return sizes;
}

runtime::Checked<Nest> closedNest(const tensor::TensorFunction& function) {
  Nest start{.name = "closed"};
  auto add = [&](std::string name, const tensor::TensorInfo& tensor, Space space) {
    Buffer buffer{std::move(name), tensor.dtype, {}, space};
    for (const tensor::ScalarNode* extent : tensor.shape) {
      const auto* number = extent->as<tensor::ScalarNumber>();
      if (!number)
        return false;
      buffer.extents.push_back(start.table.number(number->integer));
    }
    start.buffers.push_back(std::move(buffer));
    return true;
  };
  for (size_t i = 0; i < function.inputCount; ++i)
    if (!add(fmt::format("x{}", i), function.tensors[i], Space::Input))
      return runtime::Problem{"an extent is no number"};
  for (size_t i = 0; i < function.results.size(); ++i)
    if (!add(fmt::format("y{}", i), function.tensors[function.results[i]], Space::Output))
      return runtime::Problem{"an extent is no number"};
  return nestOf(function, std::move(start));
}

} // namespace harness
