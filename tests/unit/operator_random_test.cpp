// Random operand types and attributes for every operator: a relation must answer, never crash, and
// where it accepts, the result must have the shape that it promised.
#include "interp/tensor_eval.h"
#include "stdlib/ops.h"

#include <catch2/catch.hpp>
#include <random>

using namespace lang;

namespace {

class Generator {
public:
  Generator(TypeContext& types, uint64_t seed) : types_(types), random_(seed) {}

  int64_t integer(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  bool chance(int percent) { return integer(1, 100) <= percent; }

  const Type* tensor() {
    if (!chance(50) || !last_)
      last_ = freshTensor();
    return last_;
  }

  const Type* operand(const OperandRow& row) {
    if (row.kind != OperandKind::TensorTuple)
      return tensor();
    std::vector<const Type*> fields;
    for (int64_t i = integer(0, 3); i > 0; --i)
      fields.push_back(tensor());
    return types_.tuple(fields);
  }

  AttributeValue attribute(Arena& arena, const AttributeRow& row, const AttributeValue& usual) {
    if (!row.defaultText.empty() && chance(50))
      return usual;
    switch (row.kind) {
    case AttributeKind::Int:
      return intAttribute(integer(-3, 4));
    case AttributeKind::Float:
      return floatAttribute(double(integer(-4, 8)) / 2);
    case AttributeKind::Bool:
      return boolAttribute(chance(50));
    case AttributeKind::String:
      return stringAttribute(layouts_[size_t(integer(0, int64_t(std::size(layouts_)) - 1))]);
    case AttributeKind::DType:
      return stringAttribute(dtypes_[size_t(integer(0, int64_t(std::size(dtypes_)) - 1))]);
    case AttributeKind::IntList:
      return list(arena, [&] { return intAttribute(integer(-2, 4)); });
    case AttributeKind::FloatList:
      return list(arena, [&] { return floatAttribute(double(integer(-2, 4)) / 2); });
    case AttributeKind::IntListList:
      return list(arena, [&] {
        return list(arena, [&] { return intAttribute(integer(-2, 3)); });
      });
    case AttributeKind::IntOrIntList:
      return chance(50) ? intAttribute(integer(-1, 4))
                        : list(arena, [&] { return intAttribute(integer(0, 4)); });
    default:
      return {};
    }
  }

private:
  const Type* freshTensor() {
    std::vector<int64_t> shape;
    for (int64_t i = integer(0, 5); i > 0; --i)
      shape.push_back(integer(0, 5));
    runtime::DType all[] = {runtime::Float32, runtime::Float32, runtime::Float32, runtime::Int32,
                            runtime::Int64,   runtime::UInt8,   runtime::Bool,    runtime::Float64};
    return types_.tensorOf(shape, all[size_t(integer(0, 7))]);
  }

  template <typename Make>
  AttributeValue list(Arena& arena, Make make) {
    std::vector<AttributeValue> items;
    for (int64_t i = integer(0, 4); i > 0; --i)
      items.push_back(make());
    return listAttribute(arena.copy(items));
  }

  static constexpr std::string_view layouts_[] = {"NCHW", "NHWC", "OIHW", "NCW",  "NCHW4c",
                                                  "",     "max",  "add",  "edge", "linear"};
  static constexpr std::string_view dtypes_[] = {"float32", "int32", "", "bool", "float16"};
  TypeContext& types_;
  std::mt19937_64 random_;
  const Type* last_ = nullptr;
};

void appendZeros(const Type* type, std::vector<runtime::Tensor>& leaves) {
  if (type->isTuple()) {
    for (const Type* part : type->parts)
      appendZeros(part, leaves);
    return;
  }
  runtime::Shape shape;
  for (const Dim* dim : type->shape)
    shape.push_back(dim->value);
  leaves.emplace_back(type->dtype, shape);
}

/// The leaves of a type, or nothing when one has an open or large extent.
bool appendLeafTypes(const Type* type, std::vector<const Type*>& leaves) {
  if (type->isTuple()) {
    for (const Type* part : type->parts)
      if (!appendLeafTypes(part, leaves))
        return false;
    return true;
  }
  int64_t count = 1;
  for (const Dim* dim : type->shape) {
    if (!dim->isConstant() || dim->value < 0 || dim->value > 100000)
      return false;
    count *= std::max<int64_t>(dim->value, 1);
    if (count > 100000)
      return false;
  }
  leaves.push_back(type);
  return type->dtype.isComputable();
}

/// Runs an accepted call on zeros; what comes out must have the promised types.
void runAccepted(const OperatorRow& row, const RelationCall& call, const Type* output,
                 std::span<const runtime::Tensor> leaves) {
  std::vector<const Type*> promised;
  bool isSmall = appendLeafTypes(output, promised);
  std::vector<runtime::Tensor> results;
  if (row.kernel) {
    KernelResult result = row.kernel({leaves, output, call.attributes});
    if (!result.problem.empty())
      return;
    results = std::move(result.outputs);
  } else {
    if (!isSmall)
      return;
    std::vector<const runtime::Tensor*> values;
    for (const runtime::Tensor& leaf : leaves)
      values.push_back(&leaf);
    ComputeCall compute(call.operands, output, call.attributes, values);
    row.compute(compute);
    interp::Plan plan = interp::compile(compute.take());
    std::vector<interp::Array> inputs(leaves.begin(), leaves.end()), outputs;
    if (interp::run(plan, inputs, {}, outputs))
      return;
    for (const interp::Array& array : outputs)
      results.push_back(array.toTensor());
  }
  if (!isSmall)
    return;
  REQUIRE(results.size() == promised.size());
  for (size_t i = 0; i < results.size(); ++i) {
    runtime::Shape shape;
    for (const Dim* dim : promised[i]->shape)
      shape.push_back(dim->value);
    CHECK(results[i].shape() == shape);
    CHECK(runtime::dtypeName(results[i].dtype()) == runtime::dtypeName(promised[i]->dtype));
  }
}

} // namespace

TEST_CASE("relations answer every question, and keep their promises") {
  const OperatorTable& table = stdlib::operatorTable();
  TypeContext types;
  for (const OperatorRow* row : table.all()) {
    INFO(row->name);
    size_t solved = 0;
    for (uint64_t round = 0; round < 150; ++round) {
      Arena arena;
      Generator generate(types, round * 7919 + std::hash<std::string_view>{}(row->name));
      std::vector<const Type*> operands;
      for (const OperandRow& operand : row->operands)
        operands.push_back(generate.operand(operand));
      std::vector<AttributeValue> attributeValues;
      auto defaults = table.defaults(row);
      for (size_t i = 0; i < defaults.size(); ++i)
        attributeValues.push_back(generate.attribute(arena, row->attributes[i], defaults[i]));
      Attributes attributes{row->attributes, attributeValues};
      std::vector<runtime::Tensor> leaves;
      for (const Type* operand : operands)
        appendZeros(operand, leaves);
      std::vector<const runtime::Tensor*> values(operands.size());
      for (size_t i = 0, leaf = 0; i < operands.size(); ++i) {
        if (operands[i]->isTensor() && row->shapeNeeds != ShapeNeeds::Shapes)
          values[i] = &leaves[leaf];
        leaf += operands[i]->isTuple() ? operands[i]->parts.size() : 1;
      }
      RelationCall call{types, operands, attributes, values};
      INFO("round " << round);
      RelationResult result = applyRelation(*row, call);
      if (result.outcome != RelationResult::Outcome::Solved) {
        CHECK((result.outcome == RelationResult::Outcome::Waiting || !result.problem.empty()));
        continue;
      }
      REQUIRE(result.output != nullptr);
      ++solved;
      bool operandsFit = true;
      for (const auto& [index, type] : result.operands)
        operandsFit &= type == operands[index];
      if (operandsFit)
        runAccepted(*row, call, result.output, leaves);
    }
  }
}
