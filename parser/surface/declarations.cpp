// Definitions, functions, patterns and types of the surface tree.
#include "parser/surface/builder.h"

#include "parser/surface/distinct_names.h"
#include "parser/surface/node_depth.h"

#include <algorithm>

namespace parser {

using namespace surface;

const Type* Builder::finish(Type* type, uint32_t childDepth) {
  if (childDepth >= maximumDepth) {
    reportTooDeep(type->range);
    return holeType(type->range);
  }
  type->depth = uint16_t(childDepth + 1);
  return type;
}

// The whole text.

void Builder::finishDefinitions(List list) {
  file.definitions = definitions.take(arena_, list);
}

void Builder::finishMixed(Range expr, List list) {
  if (!diagnostics_.hasErrors())
    diagnostics_.report(lang::Message::MixedText, expr);
  finishDefinitions(list);
}

// Definitions and functions.

const Definition* Builder::functionDefinition(Range range, Text name, Range nameRange,
                                              Function* function) {
  auto* made = newNode<FunctionDefinition>(arena_, range);
  made->name = {name.view(), nameRange};
  made->function = function;
  return made;
}

const Definition* Builder::typeDefinition(Range range, Text name, Range nameRange, List generics,
                                          List constructorList) {
  auto* made = newNode<TypeDefinition>(arena_, range);
  made->name = {name.view(), nameRange};
  made->generics = identifiers.take(arena_, generics);
  demandDistinct(diagnostics_, made->generics);
  made->constructors = constructors.take(arena_, constructorList);
  return made;
}

const Definition* Builder::externType(Range range, const Definition* definition) {
  auto* made = arena_.make<TypeDefinition>(as<TypeDefinition>(definition));
  made->range = range;
  made->isExtern = true;
  if (!made->constructors.empty())
    diagnostics_.report(lang::Message::ExternWithConstructors, made->constructors[0].name.range,
                        made->name.text);
  return made;
}

const Constructor* Builder::constructor(Text name, Range range, List fields) {
  return arena_.make<Constructor>(Identifier{name.view(), range}, types.take(arena_, fields));
}

/// The function still lacks all but its parameters; function() gives it the rest.
Function* Builder::parameterList(List list, List attributeList) {
  auto* made = arena_.make<Function>();
  made->parameters = parameters.take(arena_, list);
  made->attributes = attributes.take(arena_, attributeList);
  return made;
}

const Parameter* Builder::parameter(Text name, Range range, List attributeList, TypePtr type) {
  return arena_.make<Parameter>(Identifier{name.view(), range}, type,
                                attributes.take(arena_, attributeList));
}

Function* Builder::function(Range range, List generics, Function* function, TypePtr result,
                            ExprPtr body) {
  function->range = range;
  function->generics = identifiers.take(arena_, generics);
  demandDistinct(diagnostics_, function->generics);
  function->result = result;
  function->body = body;
  return function;
}

// Patterns.

const Pattern* Builder::wildcardPattern(Range range) {
  return newNode<WildcardPattern>(arena_, range);
}

const Pattern* Builder::localPattern(Range range, Text name, Range nameRange, TypePtr type) {
  auto* made = newNode<LocalPattern>(arena_, range);
  made->name = {name.view(), nameRange};
  made->type = type;
  return made;
}

const Pattern* Builder::constructorPattern(Range range, Text name, Range nameRange, List fields) {
  auto* made = newNode<ConstructorPattern>(arena_, range);
  made->name = {name.view(), nameRange};
  made->fields = patterns.take(arena_, fields);
  return made;
}

const Pattern* Builder::tuplePattern(Range range, List fields) {
  auto* made = newNode<TuplePattern>(arena_, range);
  made->fields = patterns.take(arena_, fields);
  return made;
}

// Types.

const Type* Builder::holeType(Range range) {
  return newNode<HoleType>(arena_, range);
}

const Type* Builder::namedType(Range range, Text name, List arguments) {
  auto* made = newNode<NamedType>(arena_, range);
  made->name = name.view();
  made->arguments = types.take(arena_, arguments);
  return finish(made, depthOf(made->arguments));
}

const Type* Builder::tensorType(Range range, List shape, Text dtype, Range dtypeRange) {
  auto* made = newNode<TensorType>(arena_, range);
  made->shape = dims.take(arena_, shape);
  made->dtype = {dtype.view(), dtypeRange};
  return made;
}

const Type* Builder::tupleType(Range range, List fields) {
  auto* made = newNode<TupleType>(arena_, range);
  made->fields = types.take(arena_, fields);
  return finish(made, depthOf(made->fields));
}

const Type* Builder::functionType(Range range, List generics, List parameterTypes, TypePtr result) {
  auto* made = newNode<FunctionType>(arena_, range);
  made->generics = identifiers.take(arena_, generics);
  demandDistinct(diagnostics_, made->generics);
  made->parameters = types.take(arena_, parameterTypes);
  made->result = result;
  return finish(made, std::max<uint32_t>(depthOf(made->parameters), result->depth));
}

const Type* Builder::refType(Range range, TypePtr inner) {
  auto* made = newNode<RefType>(arena_, range);
  made->inner = inner;
  return finish(made, inner->depth);
}

const Type* Builder::metaType(Range range, MetaValue value) {
  auto* made = newNode<MetaType>(arena_, range);
  made->meta = value.reference();
  return made;
}

const Dim* Builder::dim(const Dim& value) {
  return arena_.make<Dim>(value);
}

const Type* Builder::sizeType(const Dim* dim) {
  auto* made = newNode<SizeType>(arena_, dim->range);
  made->dim = dim;
  return made;
}

const Dim* Builder::integerDim(Range range, IntValue value) {
  return dim({DimKind::Integer, value.type.bits == 64, range, value.value, {}, {}});
}

const Dim* Builder::anyDim(Range range) {
  return dim({DimKind::Any, false, range, 0, {}, {}});
}

const Dim* Builder::namedDim(Range range, Text name) {
  return dim({DimKind::Named, false, range, 0, name.view(), {}});
}

const Dim* Builder::metaDim(Range range, MetaValue value) {
  return dim({DimKind::Meta, false, range, 0, {}, value.reference()});
}

const Dim* Builder::holeDim(Range range) {
  return dim({DimKind::Hole, false, range, 0, {}, {}});
}

const Dim* Builder::operationDim(Range range, DimKind kind, const Dim* left, const Dim* right) {
  return dim({kind, left->is64 || right->is64, range, 0, {}, {}, left, right});
}

} // namespace parser
