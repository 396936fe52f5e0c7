// Dimensions that a metadata section holds as expressions: sums, products and quotients over
// variables and numbers. References may run anywhere, in circles too, and share parts as they like,
// so each object is read once and nothing here recurses.
#include "parser/resolve/metadata_fields.h"
#include "parser/resolve/resolve_context.h"

#include <algorithm>
#include <set>

namespace parser {

using lang::Dim;
using lang::MetadataNode;

namespace {

/// The name of a variable object: a text, or the number of the object that holds it.
std::string_view nameOf(const ResolveContext& context, const MetadataNode& node) {
  for (std::string_view field : {"name", "name_hint"}) {
    std::string_view text = fieldOf(node, field);
    const MetadataNode* object = objectOf(context.module.metadata, text);
    if (object && object->typeKey == "runtime.String")
      text = object->repr;
    if (!text.empty())
      return text;
  }
  return "n";
}

enum class Operation : uint8_t { Add, Subtract, Multiply, Divide, Remainder, Least, Greatest };

std::optional<Operation> operationOf(std::string_view key) {
  static constexpr std::pair<std::string_view, Operation> operations[] = {
      {"tir.Add", Operation::Add},       {"tir.Sub", Operation::Subtract},
      {"tir.Mul", Operation::Multiply},  {"tir.FloorDiv", Operation::Divide},
      {"tir.Div", Operation::Divide},    {"tir.FloorMod", Operation::Remainder},
      {"tir.Mod", Operation::Remainder}, {"tir.Min", Operation::Least},
      {"tir.Max", Operation::Greatest},
  };
  for (const auto& [name, operation] : operations)
    if (name == key)
      return operation;
  return std::nullopt;
}

/// What is left by a division; both are known not to be negative where they are numbers.
const Dim* remainderOf(lang::TypeContext& types, const Dim* left, int64_t divisor) {
  const Dim* quotient = types.floorDivide(left, divisor);
  const lang::DimTerm summands[] = {{left, 1}, {quotient, -divisor}};
  return types.addAll(summands);
}

/// An operation on dimensions; `?` where no dimension says the result.
const Dim* combined(lang::TypeContext& types, Operation operation, const Dim* left,
                    const Dim* right) {
  bool areNumbers = left->isConstant() && right->isConstant();
  bool divides =
      right->isConstant() && right->value > 0 && !(left->isConstant() && left->value < 0);
  switch (operation) {
  case Operation::Add:
    return types.add(left, right);
  case Operation::Subtract:
    return types.subtract(left, right);
  case Operation::Multiply:
    return types.multiply(left, right);
  case Operation::Divide:
    return divides ? types.floorDivide(left, right->value) : types.any();
  case Operation::Remainder:
    return divides ? remainderOf(types, left, right->value) : types.any();
  case Operation::Least:
    return areNumbers ? types.constant(std::min(left->value, right->value)) : types.any();
  case Operation::Greatest:
    return areNumbers ? types.constant(std::max(left->value, right->value)) : types.any();
  }
  return types.any();
}

/// An object without parts; null for one that is no dimension. What else an index expression may
/// be has no form here.
const Dim* leaf(ResolveContext& context, const MetadataNode& node) {
  lang::TypeContext& types = context.module.types;
  if (node.typeKey == "tir.Var" || node.typeKey == "tir.SizeVar")
    return types.symbol(nameOf(context, node), &node);
  if (node.typeKey == "IntImm") {
    auto value = numberOf(fieldOf(node, "value"));
    return value ? types.constant(*value) : nullptr;
  }
  return node.typeKey.starts_with("tir.") ? types.any() : nullptr;
}

/// Reads objects in the order in which they need each other.
class DimReader {
public:
  explicit DimReader(ResolveContext& context) : context_(context) {}

  const Dim* read(size_t number) {
    std::vector<size_t> stack{number};
    while (!stack.empty()) {
      size_t top = stack.back();
      if (context_.relay.dims.contains(top)) {
        stack.pop_back();
        continue;
      }
      bool isReturn = !open_.insert(top).second;
      step(top, isReturn, stack);
    }
    return context_.relay.dims.at(number);
  }

private:
  /// Finishes an object, or puts the parts that it waits for on the stack.
  void step(size_t number, bool isReturn, std::vector<size_t>& stack) {
    const MetadataNode& node = context_.module.metadata.nodes[number];
    auto operation = operationOf(node.typeKey);
    if (!operation) {
      context_.relay.dims[number] = leaf(context_, node);
      return;
    }
    std::vector<const Dim*> parts;
    for (std::string_view field : {"a", "b"}) {
      auto part = numberOf(fieldOf(node, field));
      if (!part || *part < 0 || size_t(*part) >= context_.module.metadata.nodes.size()) {
        context_.relay.dims[number] = nullptr;
        return;
      }
      auto known = context_.relay.dims.find(size_t(*part));
      if (known != context_.relay.dims.end())
        parts.push_back(known->second);
      else if (!isReturn && !open_.contains(size_t(*part)))
        stack.push_back(size_t(*part));
      else
        parts.push_back(nullptr);
    }
    if (parts.size() == 2)
      context_.relay.dims[number] =
          parts[0] && parts[1] ? combined(context_.module.types, *operation, parts[0], parts[1])
                               : nullptr;
  }

  ResolveContext& context_;
  /// What was met; one that is still without a result when it is met again contains itself.
  std::set<size_t> open_;
};

} // namespace

const Dim* metadataDim(ResolveContext& context, size_t number) {
  return DimReader(context).read(number);
}

} // namespace parser
