// One operator call: take the tensors out of the operands, find or make code, put the result
// together.
#include "lang/calls/call_sites.h"

#include "lang/op/leaves.h"
#include "lang/op/op.h"
#include "lang/op/operand_demand.h"
#include "lang/op/shapes_of.h"

#include <algorithm>
#include <fmt/format.h>

namespace lang {

using runtime::Fault;
using runtime::FaultKind;
using runtime::Shape;
using runtime::Value;
using runtime::ValueKind;

namespace {

/// What all codes may take together, and all calls over open sizes.
constexpr size_t mostBytes = size_t(256) << 20;

/// The type of a tensor; in how many bits its extents count, on which the element type of some
/// results hangs, is a matter of the program.
const Type* tensorTypeOf(TypeContext& types, const runtime::Tensor& tensor, const Type* checked) {
  std::vector<const Dim*> dims;
  for (int64_t extent : tensor.shape())
    dims.push_back(types.constant(extent));
  return types.tensor(dims, tensor.dtype(), checked && checked->isWide);
}

/// The type of a value whose type in the program is `checked`, or null when that is not known.
const Type* typeOf(TypeContext& types, const Value& value, const Type* checked) {
  if (value.kind() == ValueKind::Tensor)
    return tensorTypeOf(types, value.tensor(), checked);
  std::span<const Value> values = value.fields();
  bool isLike = checked && checked->isTuple() && checked->parts.size() == values.size();
  std::vector<const Type*> fields;
  for (size_t i = 0; i < values.size(); ++i)
    fields.push_back(typeOf(types, values[i], isLike ? checked->parts[i] : nullptr));
  return types.tuple(fields);
}

/// Of a tensor its element type, rank, whether its extents count in 64 bits, and these; of a tuple
/// its fields.
void appendNumbers(const Value& value, const Type* checked, std::vector<int64_t>& numbers) {
  if (value.kind() != ValueKind::Tensor) {
    std::span<const Value> fields = value.fields();
    bool isLike = checked && checked->isTuple() && checked->parts.size() == fields.size();
    numbers.push_back(-1 - int64_t(fields.size()));
    for (size_t i = 0; i < fields.size(); ++i)
      appendNumbers(fields[i], isLike ? checked->parts[i] : nullptr, numbers);
    return;
  }
  const runtime::Tensor& tensor = value.tensor();
  runtime::DType dtype = tensor.dtype();
  numbers.push_back(int64_t(dtype.code) << 32 | int64_t(dtype.bits) << 16 | dtype.lanes);
  numbers.push_back(int64_t(tensor.rank()) << 1 | int64_t(checked && checked->isWide));
  for (int64_t extent : tensor.shape())
    numbers.push_back(extent);
}

std::vector<Shape> shapesOf(std::span<const Value> tensors) {
  std::vector<Shape> shapes;
  for (const Value& tensor : tensors)
    shapes.push_back(tensor.tensor().shape());
  return shapes;
}

std::vector<Shape> shapesOf(const Type* type) {
  std::vector<const Type*> tensors;
  appendTensors(type, tensors);
  std::vector<Shape> shapes;
  for (const Type* tensor : tensors)
    shapes.push_back(shapeOf(tensor));
  return shapes;
}

bool takes(const CallCode& code, std::span<const Value> tensors) {
  return std::ranges::equal(code.inputs, tensors, [](const auto& input, const Value& value) {
    return input.first == value.tensor().dtype() && input.second == value.tensor().shape();
  });
}

} // namespace

/// With an engine that keeps more digits than elements have, the engine runs native functions, and
/// says once when it could not keep them.
runtime::NativeFault CallSites::runNative(const CallCode& code, std::span<Value> inputs,
                                          std::vector<Value>& outputs, SourceRange call) {
  const Native& native = code.key.row->native;
  if (engine_.runNative) {
    bool onlyOrders = native.onlyOrders && native.onlyOrders(code.key.attributes);
    bool hasFloats = std::ranges::any_of(
        inputs, [](const Value& input) { return input.tensor().dtype().isFloat(); });
    if (!onlyOrders && hasFloats && rounding_ && rounded_.insert(code.key.row).second)
      rounding_(*code.key.row, call);
    std::vector<const Type*> results;
    appendTensors(code.output, results);
    tensor::NativeTask task{*native.function, code.parameters, onlyOrders, {}};
    for (const Type* result : results)
      task.results.push_back(result->dtype);
    return engine_.runNative(task, inputs, outputs);
  }
  std::vector<runtime::Tensor> tensors, results;
  for (Value& input : inputs)
    tensors.push_back(input.takeTensor());
  auto fault = native.function->run({tensors, results}, code.parameters);
  for (runtime::Tensor& result : results)
    outputs.push_back(runtime::tensorValue(std::move(result)));
  return fault;
}

std::variant<Value, Fault> CallSites::run(const CallCode& code, std::span<Value> inputs,
                                          SourceRange call) {
  std::vector<Value> outputs;
  if (code.key.row->native) {
    if (auto fault = runNative(code, inputs, outputs, call))
      return Fault{FaultKind::Data, runtime::nativeFaultText(fault)};
  } else if (auto fault = code.kernel ? code.kernel->run(inputs, code.results, outputs)
                                      : code.exact.run(inputs, outputs)) {
    return std::move(*fault);
  }
  return assemble(code.output, std::move(outputs));
}

const Attributes& CallSites::defaults(const OperatorRow& row) {
  auto [found, isNew] = defaults_.try_emplace(&row);
  if (isNew)
    found->second = {row.attributes, table_.defaults(&row)};
  return found->second;
}

std::shared_ptr<TypeContext> CallSites::scratchTypes() {
  constexpr size_t mostUses = 32;
  if (!types_ || ++usesOfTypes_ > mostUses) {
    types_ = std::make_shared<TypeContext>();
    usesOfTypes_ = 1;
  }
  return types_;
}

const Type* CallSites::checkedType(const Question& question, size_t argument) const {
  return typing_.of(*question.call.arguments[argument].value);
}

/// How many codes are kept, and how many calls over open sizes.
size_t CallSites::mostKept() const {
  constexpr size_t fewest = 64;
  return std::max(fewest, 2 * sites_.size());
}

/// The call of this site over open extents, or null where its types are not known. An operator that
/// is called through a value was not put to its relation by the checker.
std::shared_ptr<const OpenCall> CallSites::openCall(const Question& question) {
  if (auto known = question.site.open.lock())
    return known;
  std::vector<const Type*> types;
  for (size_t i = 0; i < question.arguments.size(); ++i)
    types.push_back(checkedType(question, i));
  const Type* output = typing_.of(*question.binding.var);
  if (question.call.callee.value->kind != ExprKind::Operator ||
      !OpenCall::isPossible(types, output))
    return nullptr;
  types.push_back(output);
  types = withOwnNames(names_, types);
  output = types.back();
  types.pop_back();
  OpenCallKey key{&question.row, question.attributes, std::move(types), output};
  auto open = open_.find(key);
  if (!open) {
    open = std::make_shared<const OpenCall>(std::move(key), engine_.makeKernel);
    open_.add(open, mostKept(), mostBytes);
  }
  question.site.open = open;
  return open;
}

namespace {

/// Whether a tensor has other extents than one must have.
bool differs(const Type* wanted, const Type* given) {
  if (!wanted->isTensor() || !given->isTensor())
    return false;
  return !std::ranges::equal(wanted->shape, given->shape, [](const Dim* left, const Dim* right) {
    return matchDims(left, right) != DimMatch::Different;
  });
}

/// The problem with the first operand whose extents are not those that the relation demands; empty
/// when there is none. The checker unifies the two, which says nothing where extents are open.
Words extentProblem(const OperatorRow& row, const RelationResult& answer, Types operands) {
  for (const auto& [i, wanted] : answer.operands)
    if (differs(wanted, operands[i]))
      return demandProblem(row.operand(i).name, row.name, wanted, operands[i]);
  return "";
}

} // namespace

/// Puts a call to the relation with numbers for its extents, and values where they are needed.
std::optional<Fault> CallSites::ask(const Question& question, Answer& answer) {
  const OperatorRow& row = question.row;
  answer = {scratchTypes()};
  std::vector<const runtime::Tensor*> values(question.arguments.size());
  for (size_t i = 0; i < question.arguments.size(); ++i) {
    const Value& argument = question.arguments[i];
    answer.operands.push_back(typeOf(*answer.types, argument, checkedType(question, i)));
    if (row.shapeNeeds != ShapeNeeds::Shapes && argument.kind() == ValueKind::Tensor)
      values[i] = &argument.tensor();
  }
  RelationCall call{*answer.types, answer.operands, question.attributes, values};
  RelationResult result = applyRelation(row, call);
  if (result.isTooLarge)
    return Fault{FaultKind::Memory, result.problem.settled()};
  if (result.outcome == RelationResult::Outcome::Failed) {
    call.values = {};
    bool fitsShapes = applyRelation(row, call).outcome != RelationResult::Outcome::Failed;
    return Fault{fitsShapes ? FaultKind::Data : FaultKind::Sizes, result.problem.settled()};
  }
  if (result.outcome == RelationResult::Outcome::Waiting || !result.output)
    return Fault{FaultKind::Internal,
                 fmt::format("the shape of the result of `{}` is not known", row.name)};
  if (Words problem = extentProblem(row, result, answer.operands); !problem.empty())
    return Fault{FaultKind::Sizes, problem.settled()};
  answer.output = result.output;
  answer.results = shapesOf(result.output);
  return std::nullopt;
}

/// Makes what computes a call. Where `open` does not give it, it is made of the types of numbers,
/// which the answer has from here on.
std::optional<Fault> CallSites::makeComputation(const Question& question, const OpenCall* open,
                                                Answer& answer, CallCode& code) {
  std::vector<Shape> inputs = shapesOf(question.inputs);
  if (open && !open->gives(inputs, answer.results))
    open = nullptr;
  if (open && (code.kernel = open->kernel()))
    return std::nullopt;
  auto function = open ? open->function(inputs, answer.results) : std::nullopt;
  if (!function) {
    if (!answer.isOfNumbers())
      if (auto fault = ask(question, answer))
        return fault;
    auto made = tensorFunctionOf(question.row, answer.operands, answer.output, question.attributes);
    if (!made)
      return Fault{FaultKind::Internal, made.failure().text};
    function = *std::move(made);
  }
  if (engine_.makeKernel)
    code.kernel = std::make_shared<tensor::OwnedKernel>(*std::move(function), engine_.makeKernel);
  else
    code.exact = engine_.makeExact(*std::move(function));
  return std::nullopt;
}

/// Makes code of a call; the relation is asked if it has not answered yet and is needed.
std::variant<CallSites::Code, Fault> CallSites::make(const Question& question, CodeKey key,
                                                     Answer answer) {
  const OpenCall* open = key.open.get();
  if (open && !open->takes(question.inputs))
    open = nullptr;
  if (!answer.output) {
    auto results = open ? open->resultShapes(shapesOf(question.inputs)) : std::nullopt;
    if (results)
      answer = {nullptr, open->key.operands, open->key.output, *std::move(results)};
    else if (auto fault = ask(question, answer))
      return *std::move(fault);
  }
  CallCode code{.key = std::move(key)};
  if (!question.row.compute)
    code.parameters = question.row.native.decode(question.attributes, answer.operands);
  else if (auto fault = makeComputation(question, open, answer, code))
    return *std::move(fault);
  for (const Value& input : question.inputs)
    code.inputs.emplace_back(input.tensor().dtype(), input.tensor().shape());
  code.output = answer.output;
  code.types = std::move(answer.types);
  code.results = std::move(answer.results);
  return std::make_shared<const CallCode>(std::move(code));
}

/// Code that is known for such a call, or new one. Where the shape of the result hangs on values,
/// the relation answers first.
std::variant<CallSites::Code, Fault> CallSites::find(const Question& question) {
  CodeKey key{&question.row, question.attributes};
  key.open = openCall(question);
  for (size_t i = 0; i < question.arguments.size(); ++i)
    appendNumbers(question.arguments[i], checkedType(question, i), key.numbers);
  Answer answer;
  if (question.row.shapeNeeds != ShapeNeeds::Shapes) {
    if (auto fault = ask(question, answer))
      return *std::move(fault);
    for (const Shape& shape : answer.results)
      key.numbers.insert(key.numbers.end(), shape.begin(), shape.end());
  }
  if (Code known = codes_.find(key))
    return known;
  auto made = make(question, std::move(key), std::move(answer));
  if (const Code* code = std::get_if<Code>(&made))
    codes_.add(*code, mostKept(), mostBytes);
  return made;
}

std::variant<Value, Fault> CallSites::apply(const Binding& binding, const OperatorRow& row,
                                            std::vector<Value> arguments) {
  const Call& call = *binding.value->as<Call>();
  std::vector<Value> inputs;
  inputs.reserve(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i)
    if (!appendTensors(arguments[i], inputs))
      return Fault{FaultKind::Type, fmt::format("`{}` of `{}` must be made of tensors",
                                                row.operand(i).name, row.name)};
  Site& site = sites_[&call];
  Code code = row.shapeNeeds == ShapeNeeds::Shapes ? site.code.lock() : nullptr;
  if (!code || code->key.row != &row || !takes(*code, inputs)) {
    const Attributes& attributes = call.attributes ? *call.attributes : defaults(row);
    auto found = find({site, binding, call, row, attributes, arguments, inputs});
    if (auto* fault = std::get_if<Fault>(&found))
      return std::move(*fault);
    code = std::get<Code>(std::move(found));
    site.code = code;
  }
  arguments.clear();
  return run(*code, inputs, call.range);
}

} // namespace lang
