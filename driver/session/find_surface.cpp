// A walk with a stack of its own that enters only what holds the place, so it follows one path.
#include "driver/session/find_surface.h"

#include <vector>

namespace driver {

using namespace parser::surface;

namespace {

class Finder {
public:
  explicit Finder(uint32_t offset) : offset_(offset) {}

  SurfaceAt find(const File& file) {
    for (const Definition* definition : file.definitions)
      if (holds(definition->range)) {
        found_.definition = definition;
        enter(*definition);
      }
    open(file.expr);
    while (!exprs_.empty()) {
      const Expr* expr = exprs_.back();
      exprs_.pop_back();
      enter(*expr);
    }
    return found_;
  }

private:
  bool holds(SourceRange range) const { return range.begin <= offset_ && offset_ < range.end; }

  void open(const Expr* expr) {
    if (expr && holds(expr->range))
      exprs_.push_back(expr);
  }

  void open(std::span<const Expr* const> list) {
    for (const Expr* expr : list)
      open(expr);
  }

  void enter(const Definition& definition) {
    if (const auto* function = tryAs<FunctionDefinition>(&definition))
      return enter(*function->function);
    if (const auto* constant = tryAs<ConstantDefinition>(&definition)) {
      enterType(constant->type);
      return open(constant->value);
    }
    if (const auto* test = tryAs<TestDefinition>(&definition))
      return open(test->body);
    if (const auto* type = tryAs<TypeDefinition>(&definition))
      enterType(*type);
  }

  void enterType(const TypeDefinition& type) {
    enterType(type.alias);
    for (const Constructor& constructor : type.constructors)
      for (const Type* field : constructor.fields)
        enterType(field);
  }

  void enter(const Function& function) {
    for (const Parameter& parameter : function.parameters) {
      enterType(parameter.type);
      open(parameter.defaultValue);
    }
    enterType(function.result);
    open(function.body);
  }

  void enterType(const Type* type) {
    if (!type || !holds(type->range))
      return;
    auto enterAll = [&](std::span<const Type* const> list) {
      for (const Type* part : list)
        enterType(part);
    };
    if (const auto* named = tryAs<NamedType>(type))
      enterAll(named->arguments);
    else if (const auto* tuple = tryAs<TupleType>(type))
      enterAll(tuple->fields);
    else if (const auto* reference = tryAs<RefType>(type))
      enterType(reference->inner);
    else if (const auto* function = tryAs<FunctionType>(type)) {
      enterAll(function->parameters);
      enterType(function->result);
    } else if (const auto* tensor = tryAs<TensorType>(type)) {
      for (const Dim& dim : tensor->shape)
        enterDim(dim);
    } else if (const auto* size = tryAs<SizeType>(type)) {
      enterDim(*size->dim);
    }
  }

  void enterDim(const Dim& root) {
    std::vector<const Dim*> open{&root};
    while (!open.empty()) {
      const Dim* dim = open.back();
      open.pop_back();
      if (dim->left) {
        open.push_back(dim->left);
        open.push_back(dim->right);
      } else if (dim->kind == DimKind::Named && holds(dim->range)) {
        found_.range = dim->range;
        found_.dim = dim;
      }
    }
  }

  void enterPattern(const Pattern* pattern) {
    if (!holds(pattern->range))
      return;
    if (const auto* local = tryAs<LocalPattern>(pattern))
      enterType(local->type);
    else if (const auto* constructor = tryAs<ConstructorPattern>(pattern))
      for (const Pattern* field : constructor->fields)
        enterPattern(field);
    else if (const auto* tuple = tryAs<TuplePattern>(pattern))
      for (const Pattern* field : tuple->fields)
        enterPattern(field);
  }

  void enterCall(const Call& call) {
    open(call.callee);
    open(call.arguments);
    for (const Attribute& attribute : call.attributes) {
      if (attribute.value.kind == AttributeKind::Expr)
        open(attribute.value.expr);
      bool isKey = holds(attribute.key.range);
      bool isValue = holds(attribute.value.range) && attribute.value.kind != AttributeKind::Expr;
      if (!isKey && !isValue)
        continue;
      found_.range = isKey ? attribute.key.range : attribute.value.range;
      found_.call = &call;
      found_.attribute = &attribute;
    }
  }

  void enterSequence(const Sequence& sequence) {
    for (const Item& item : sequence.items)
      if (holds(item.range)) {
        enterType(item.type);
        if (item.pattern)
          enterPattern(item.pattern);
        open(item.value);
      }
    open(sequence.result);
  }

  void enterMatch(const Match& match) {
    open(match.scrutinee);
    for (const Arm& arm : match.arms) {
      enterPattern(arm.pattern);
      open(arm.body);
    }
  }

  void enter(const Expr& expr) {
    switch (expr.kind) {
    case ExprKind::FunctionLiteral:
      return enter(*as<FunctionLiteral>(&expr).function);
    case ExprKind::If:
      open(as<If>(&expr).condition);
      open(as<If>(&expr).then);
      return open(as<If>(&expr).otherwise);
    case ExprKind::Match:
      return enterMatch(as<Match>(&expr));
    case ExprKind::RefNew:
      return open(as<RefNew>(&expr).value);
    case ExprKind::RefRead:
      return open(as<RefRead>(&expr).cell);
    case ExprKind::RefWrite:
      open(as<RefWrite>(&expr).cell);
      return open(as<RefWrite>(&expr).value);
    case ExprKind::Tuple:
      return open(as<Tuple>(&expr).fields);
    case ExprKind::Project:
      return open(as<Project>(&expr).operand);
    case ExprKind::Call:
      return enterCall(as<Call>(&expr));
    case ExprKind::Infix:
      open(as<Infix>(&expr).left);
      return open(as<Infix>(&expr).right);
    case ExprKind::Prefix:
      return open(as<Prefix>(&expr).operand);
    case ExprKind::Field:
      return open(as<Field>(&expr).operand);
    case ExprKind::TensorLiteral:
      return open(as<TensorLiteral>(&expr).elements);
    case ExprKind::Sequence:
      return enterSequence(as<Sequence>(&expr));
    default:
      return;
    }
  }

  uint32_t offset_;
  std::vector<const Expr*> exprs_;
  SurfaceAt found_;
};

} // namespace

SurfaceAt findSurfaceAt(const File& file, uint32_t offset) {
  return Finder(offset).find(file);
}

} // namespace driver
