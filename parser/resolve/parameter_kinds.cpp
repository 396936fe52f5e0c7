// A parameter that is an argument of another data type is what that one's parameter is, so
// definitions wait for each other; in a circle nobody waits.
#include "parser/resolve/parameter_kinds.h"

#include <algorithm>
#include <unordered_set>

namespace parser {

using lang::ParameterKind;
using lang::TypeDefinition;
using lang::TypeParameter;

namespace {

class Kinds {
public:
  explicit Kinds(ResolveContext& context) : context_(context) {}

  void decide(const TypeDefinition& root) {
    stack_.push_back(&root);
    met_.insert(&root);
    while (!stack_.empty()) {
      const TypeDefinition* top = stack_.back();
      size_t depth = stack_.size();
      if (isOpen(*top))
        scan(*top);
      if (stack_.size() == depth)
        stack_.pop_back();
    }
  }

private:
  static bool isOpen(const TypeDefinition& definition) {
    return std::ranges::count(definition.generics, ParameterKind::Open, &TypeParameter::kind) > 0;
  }

  /// Looks at the uses of parameters; types that have to be decided before go on the stack.
  void scan(const TypeDefinition& definition) {
    definition_ = &definition;
    const auto* text = context_.definitions.surfaceOf(definition);
    if (!text)
      return;
    InUnit inUnit(context_, context_.definitions.unitOf(definition));
    std::vector<const surface::Type*> types;
    for (const surface::Constructor& constructor : text->constructors)
      types.insert(types.end(), constructor.fields.begin(), constructor.fields.end());
    while (!types.empty()) {
      const surface::Type* type = types.back();
      types.pop_back();
      scanType(*type, types);
    }
  }

  void scanType(const surface::Type& type, std::vector<const surface::Type*>& rest) {
    auto addAll = [&](std::span<const surface::Type* const> parts) {
      rest.insert(rest.end(), parts.begin(), parts.end());
    };
    if (const auto* named = surface::tryAs<surface::NamedType>(&type))
      return scanNamed(*named, rest);
    if (const auto* size = surface::tryAs<surface::SizeType>(&type))
      return scanDim(*size->dim);
    if (const auto* tensor = surface::tryAs<surface::TensorType>(&type))
      for (const surface::Dim& dim : tensor->shape)
        scanDim(dim);
    if (const auto* reference = surface::tryAs<surface::RefType>(&type))
      rest.push_back(reference->inner);
    if (const auto* tuple = surface::tryAs<surface::TupleType>(&type))
      return addAll(tuple->fields);
    if (const auto* function = surface::tryAs<surface::FunctionType>(&type)) {
      addAll(function->parameters);
      rest.push_back(function->result);
    }
  }

  void scanNamed(const surface::NamedType& type, std::vector<const surface::Type*>& rest) {
    if (type.arguments.empty())
      return use(type.name, ParameterKind::Type);
    bool isTensor = type.name == "_" || namedDType(type.name);
    bool isLong = type.name == "Tensor" && type.arguments.size() == 2;
    const TypeDefinition* of = nullptr;
    if (!isTensor && !isLong)
      of = context_.definitions.findType(*context_.unit, type.name);
    for (size_t i = 0; i < type.arguments.size(); ++i) {
      const auto* name = surface::tryAs<surface::NamedType>(type.arguments[i]);
      bool isName = name && name->arguments.empty();
      if (isName && (isTensor || (isLong && i == 0)))
        use(name->name, ParameterKind::Dimension);
      else if (isLong && i == 0)
        sizesIn(*type.arguments[0]);
      else if (isName && of && i < of->generics.size())
        useAs(name->name, *of, i);
      else
        rest.push_back(type.arguments[i]);
    }
  }

  void sizesIn(const surface::Type& shape) {
    const auto* tuple = surface::tryAs<surface::TupleType>(&shape);
    for (const surface::Type* each :
         tuple ? tuple->fields : std::span<const surface::Type* const>()) {
      if (const auto* name = surface::tryAs<surface::NamedType>(each))
        use(name->name, ParameterKind::Dimension);
      else if (const auto* size = surface::tryAs<surface::SizeType>(each))
        scanDim(*size->dim);
    }
  }

  /// Arithmetic leans to the left and nests no deeper than the reader allows.
  void scanDim(const surface::Dim& root) {
    std::vector<const surface::Dim*> dims{&root};
    while (!dims.empty()) {
      const surface::Dim* dim = dims.back();
      dims.pop_back();
      if (dim->kind == surface::DimKind::Named)
        use(dim->name, ParameterKind::Dimension);
      for (const surface::Dim* side : {dim->left, dim->right})
        if (side)
          dims.push_back(side);
    }
  }

  void use(std::string_view name, ParameterKind kind) {
    auto found = std::ranges::find(definition_->generics, name, &TypeParameter::name);
    if (found != definition_->generics.end() && (*found)->kind == ParameterKind::Open)
      (*found)->kind = kind;
  }

  void useAs(std::string_view name, const TypeDefinition& of, size_t parameter) {
    if (of.generics[parameter]->kind != ParameterKind::Open)
      use(name, of.generics[parameter]->kind);
    else if (met_.insert(&of).second)
      stack_.push_back(&of);
  }

  ResolveContext& context_;
  const TypeDefinition* definition_ = nullptr;
  std::vector<const TypeDefinition*> stack_;
  std::unordered_set<const TypeDefinition*> met_;
};

} // namespace

void decideParameterKinds(ResolveContext& context, const TypeDefinition& definition) {
  if (std::ranges::count(definition.generics, ParameterKind::Open, &TypeParameter::kind) > 0)
    Kinds(context).decide(definition);
}

} // namespace parser
