// Pairs of blocks on a stack, and what is bound on the left with what it is on the right. Every
// binder is met before its uses, so one table for each kind of name is enough.
#include "tests/harness/alpha_equal.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"

#include <cctype>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace harness {

using namespace lang;

namespace {

struct PairHash {
  template <typename T>
  size_t operator()(const std::pair<T, T>& pair) const {
    return std::hash<T>()(pair.first) * 31 + std::hash<T>()(pair.second);
  }
};

class Comparison {
public:
  Comparison() = default;
  Comparison(const Module& left, const Module& right)
      : left_(&left), right_(&right), leftObjects_(placesOf(left)), rightObjects_(placesOf(right)) {
  }

  bool functions(const Function& left, const Function& right) {
    size_t base = blocks_.size();
    if (!heads(left, right))
      return false;
    while (blocks_.size() > base) {
      auto [a, b] = blocks_.back();
      blocks_.pop_back();
      if (!block(*a, *b))
        return false;
    }
    return true;
  }

  bool modules() {
    if (left_->form != right_->form ||
        !paired(left_->typeDefinitions, left_->preludeTypes, right_->typeDefinitions,
                right_->preludeTypes, definitions_) ||
        !paired(left_->globals, left_->preludeGlobals, right_->globals, right_->preludeGlobals,
                globals_))
      return false;
    for (auto [a, b] : definitions_)
      if (!definition(*a, *b))
        return false;
    for (auto [a, b] : globals_)
      if (a->name != b->name || !a->function != !b->function ||
          (a->function && !functions(*a->function, *b->function)))
        return false;
    return true;
  }

private:
  /// Pairs what the modules define by its place, and what they have of the prelude by its name: a
  /// text that mentions something of it and does not use it has it too.
  template <typename Definitions, typename T>
  static bool paired(const Definitions& left, size_t leftPrelude, const Definitions& right,
                     size_t rightPrelude, std::unordered_map<const T*, const T*>& pairs) {
    if (left.size() - leftPrelude != right.size() - rightPrelude)
      return false;
    for (size_t i = 0; i < leftPrelude; ++i)
      for (size_t j = 0; j < rightPrelude; ++j)
        if (left[i]->name == right[j]->name)
          pairs[left[i]] = right[j];
    for (size_t i = leftPrelude; i < left.size(); ++i)
      pairs[left[i]] = right[rightPrelude + i - leftPrelude];
    return true;
  }

  // Types.

  template <typename T>
  static bool paired(const std::unordered_map<const T*, const T*>& map, const T* left,
                     const T* right) {
    auto found = map.find(left);
    return (found == map.end() ? left : found->second) == right;
  }

  bool parameters(std::span<const TypeParameter* const> left,
                  std::span<const TypeParameter* const> right) {
    if (left.size() != right.size())
      return false;
    for (size_t i = 0; i < left.size(); ++i) {
      if (left[i]->kind != right[i]->kind)
        return false;
      parameters_[left[i]] = right[i];
    }
    // What was found equal may name parameters that mean something else here.
    if (!left.empty())
      types_.clear();
    return true;
  }

  bool dims(const Dim* left, const Dim* right) {
    if (left == right && !left->hasSymbol)
      return true;
    if (left->parameter || right->parameter)
      return left->parameter && right->parameter &&
             paired(parameters_, left->parameter, right->parameter);
    // What is to be found out has a number of its own in each module.
    if (left->kind == DimKind::Unknown && right->kind == DimKind::Unknown)
      return true;
    if (left->kind != right->kind || left->value != right->value || left->name != right->name ||
        !left->origin != !right->origin || left->terms.size() != right->terms.size())
      return false;
    // Terms stand in the order in which their variables were made, which names need not share.
    return std::ranges::is_permutation(
        left->terms, right->terms, [&](const DimTerm& a, const DimTerm& b) {
          return a.coefficient == b.coefficient && dims(a.variable, b.variable);
        });
  }

  /// Recursion follows the depth of types, which is bounded.
  bool types(const Type* left, const Type* right) {
    if (!left || !right)
      return left == right;
    if (left->kind != right->kind || left->dtype != right->dtype ||
        left->shape.size() != right->shape.size() || left->parts.size() != right->parts.size() ||
        left->op != right->op)
      return false;
    if (!parameters(left->generics, right->generics))
      return false;
    if (!types_.insert({left, right}).second)
      return true;
    if (left->parameter && !paired(parameters_, left->parameter, right->parameter))
      return false;
    if (left->definition && !paired(definitions_, left->definition, right->definition))
      return false;
    return std::ranges::equal(left->shape, right->shape,
                              [&](auto* a, auto* b) { return dims(a, b); }) &&
           std::ranges::equal(left->parts, right->parts,
                              [&](auto* a, auto* b) { return types(a, b); }) &&
           types(left->result, right->result);
  }

  bool definition(const TypeDefinition& left, const TypeDefinition& right) {
    return left.name == right.name && left.isExtern == right.isExtern &&
           parameters(left.generics, right.generics) &&
           std::ranges::equal(left.constructors, right.constructors,
                              [&](const Constructor* a, const Constructor* b) {
                                return a->name == b->name && a->fields.size() == b->fields.size() &&
                                       std::ranges::equal(a->fields, b->fields,
                                                          [&](auto* field, auto* other) {
                                                            return types(field, other);
                                                          });
                              });
  }

  // Atoms.

  bool atoms(const Expr& left, const Expr& right) {
    if (left.kind != right.kind)
      return false;
    return match(
        left, [&](const Expr&) { return left.kind == ExprKind::Hole; },
        [&](const Var& var) { return paired(vars_, &var, static_cast<const Var*>(&right)); },
        [&](const Constant& constant) {
          return constants(constant, static_cast<const Constant&>(right));
        },
        [&](const Global& global) {
          const auto* other = static_cast<const Global*>(&right);
          return paired(globals_, &global, other) ||
                 (!global.function && !other->function && global.name == other->name);
        },
        [&](const OperatorRef& op) { return op.row == static_cast<const OperatorRef&>(right).row; },
        [&](const Constructor& constructor) {
          const auto& other = static_cast<const Constructor&>(right);
          return constructor.index == other.index &&
                 paired(definitions_, constructor.definition, other.definition);
        });
  }

  bool constants(const Constant& left, const Constant& right) {
    if (!types(left.type, right.type) || !left.tensor != !right.tensor)
      return false;
    if (!left.tensor)
      return left.bits == right.bits;
    return left.tensor->bytes() == right.tensor->bytes() ||
           std::memcmp(left.tensor->bytes(), right.tensor->bytes(), left.tensor->byteSize()) == 0;
  }

  bool operand(const Operand& left, const Operand& right) {
    return atoms(*left.value, *right.value);
  }

  bool operands(std::span<const Operand> left, std::span<const Operand> right) {
    return std::ranges::equal(left, right,
                              [&](const Operand& a, const Operand& b) { return operand(a, b); });
  }

  // Attributes. Objects of metadata are equal when they stand in the same place of their tables.

  static std::unordered_map<const void*, size_t> placesOf(const Module& module) {
    std::unordered_map<const void*, size_t> places;
    for (const MetadataNode& node : module.metadata.nodes)
      places.emplace(&node, places.size());
    return places;
  }

  bool objects(const void* left, const void* right) const {
    if (left == right)
      return true;
    auto a = leftObjects_.find(left), b = rightObjects_.find(right);
    return a != leftObjects_.end() && b != rightObjects_.end() && a->second == b->second;
  }

  static bool isNumber(const AttributeValue& value) {
    return value.kind == AttributeValueKind::Int || value.kind == AttributeValueKind::Float;
  }

  bool attribute(const AttributeValue& left, const AttributeValue& right) {
    // A default that the text leaves out may be `0` where the text has `0f`.
    if (left.kind != right.kind && isNumber(left) && isNumber(right))
      return double(left.integer) + left.real == double(right.integer) + right.real;
    if (left.kind != right.kind || left.width != right.width || left.integer != right.integer ||
        std::memcmp(&left.real, &right.real, sizeof left.real) != 0 || left.text != right.text ||
        !left.expr != !right.expr || !objects(left.meta, right.meta))
      return false;
    return (!left.expr || atoms(*left.expr, *right.expr)) &&
           std::ranges::equal(
               left.items, right.items,
               [&](const AttributeValue& a, const AttributeValue& b) { return attribute(a, b); });
  }

  bool attributes(const Attributes* left, const Attributes* right) {
    if (!left || !right)
      return left == right;
    return left->rows.data() == right->rows.data() &&
           std::ranges::equal(
               left->values, right->values,
               [&](const AttributeValue& a, const AttributeValue& b) { return attribute(a, b); });
  }

  bool named(std::span<const NamedAttribute> left, std::span<const NamedAttribute> right) {
    return std::ranges::equal(left, right, [&](const NamedAttribute& a, const NamedAttribute& b) {
      return a.name == b.name && attribute(a.value, b.value);
    });
  }

  // Binders and values.

  bool var(const Var& left, const Var& right) {
    vars_[&left] = &right;
    return left.origin == right.origin && types(left.annotation, right.annotation) &&
           !left.device == !right.device &&
           (!left.device || attribute(*left.device, *right.device));
  }

  bool pattern(const Pattern& left, const Pattern& right) {
    return left.kind == right.kind && (!left.var || var(*left.var, *right.var)) &&
           (!left.constructor || atoms(*left.constructor, *right.constructor)) &&
           std::ranges::equal(left.parts, right.parts,
                              [&](auto* a, auto* b) { return pattern(*a, *b); });
  }

  bool heads(const Function& left, const Function& right) {
    blocks_.push_back({left.body, right.body});
    return parameters(left.generics, right.generics) &&
           std::ranges::equal(left.parameters, right.parameters,
                              [&](auto* a, auto* b) { return var(*a, *b); }) &&
           types(left.resultAnnotation, right.resultAnnotation) &&
           named(left.attributes, right.attributes);
  }

  /// All of a value but the blocks inside, which are put on the stack.
  bool values(const Expr& left, const Expr& right) {
    if (left.kind != right.kind)
      return false;
    return match(
        left, [&](const Expr& leaf) { return atoms(leaf, right); },
        [&](const TupleExpr& tuple) {
          return operands(tuple.fields, static_cast<const TupleExpr&>(right).fields);
        },
        [&](const Project& project) {
          const auto& other = static_cast<const Project&>(right);
          return project.index == other.index && operand(project.tuple, other.tuple);
        },
        [&](const Call& call) {
          const auto& other = static_cast<const Call&>(right);
          return operand(call.callee, other.callee) && operands(call.arguments, other.arguments) &&
                 attributes(call.attributes, other.attributes) && named(call.named, other.named);
        },
        [&](const If& branch) {
          const auto& other = static_cast<const If&>(right);
          blocks_.push_back({branch.thenBlock, other.thenBlock});
          blocks_.push_back({branch.elseBlock, other.elseBlock});
          return operand(branch.condition, other.condition);
        },
        [&](const Match& match) { return matches(match, static_cast<const Match&>(right)); },
        [&](const Function& function) {
          return heads(function, static_cast<const Function&>(right));
        },
        [&](const RefNew& ref) {
          return operand(ref.content, static_cast<const RefNew&>(right).content);
        },
        [&](const RefRead& ref) {
          return operand(ref.reference, static_cast<const RefRead&>(right).reference);
        },
        [&](const RefWrite& ref) {
          const auto& other = static_cast<const RefWrite&>(right);
          return operand(ref.reference, other.reference) && operand(ref.value, other.value);
        },
        [&](const BlockExpr& block) {
          blocks_.push_back({block.block, static_cast<const BlockExpr&>(right).block});
          return true;
        });
  }

  bool matches(const Match& left, const Match& right) {
    return left.isPartial == right.isPartial && operand(left.scrutinee, right.scrutinee) &&
           std::ranges::equal(left.arms, right.arms, [&](const Arm& a, const Arm& b) {
             blocks_.push_back({a.body, b.body});
             return pattern(*a.pattern, *b.pattern);
           });
  }

  bool block(const Block& left, const Block& right) {
    return std::ranges::equal(left.bindings, right.bindings,
                              [&](const Binding& a, const Binding& b) {
                                bool isFunction = a.value->kind == ExprKind::Function;
                                return (!isFunction || var(*a.var, *b.var)) &&
                                       values(*a.value, *b.value) &&
                                       (isFunction || var(*a.var, *b.var));
                              }) &&
           operand(left.result, right.result);
  }

  const Module* left_ = nullptr;
  const Module* right_ = nullptr;
  std::unordered_map<const void*, size_t> leftObjects_, rightObjects_;
  std::vector<std::pair<const Block*, const Block*>> blocks_;
  std::unordered_map<const Var*, const Var*> vars_;
  std::unordered_map<const Global*, const Global*> globals_;
  std::unordered_map<const TypeParameter*, const TypeParameter*> parameters_;
  std::unordered_map<const TypeDefinition*, const TypeDefinition*> definitions_;
  std::unordered_set<std::pair<const Type*, const Type*>, PairHash> types_;
};

} // namespace

bool alphaEqual(const Function& left, const Function& right) {
  return Comparison().functions(left, right);
}

bool alphaEqual(const Module& left, const Module& right) {
  return Comparison(left, right).modules();
}

namespace {

/// The text with numbers in place of names, in the order in which they occur.
std::string withoutNames(std::string_view text) {
  std::unordered_map<std::string_view, size_t> numbers;
  std::string result;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (text[i] == '%' && end < text.size() &&
           (std::isalnum(uint8_t(text[end])) || text[end] == '_' || text[end] == '/'))
      ++end;
    std::string_view word = text.substr(i, end - i);
    bool isLocal = word.size() > 1 && !std::isdigit(uint8_t(word[1]));
    result += isLocal
                  ? "%v" + std::to_string(numbers.try_emplace(word, numbers.size()).first->second)
                  : std::string(word);
    i = end;
  }
  return result;
}

} // namespace

bool sameButNames(std::string_view left, std::string_view right) {
  return withoutNames(left) == withoutNames(right);
}

} // namespace harness
