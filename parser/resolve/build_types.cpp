// Types of the surface tree to interned types.
#include "parser/resolve/bare_forms.h"
#include "parser/resolve/foreign_calls.h"
#include "parser/resolve/name_hints.h"
#include "parser/resolve/parameter_kinds.h"
#include "parser/surface/clipped.h"
#include "runtime/limits.h"
#include "runtime/short_names.h"

#include <algorithm>

namespace parser {

using lang::Message;
using lang::Type;

namespace {

/// Names that begin so are element types, whatever else is in scope, as in TVM.
bool readsAsDType(std::string_view name) {
  for (std::string_view prefix : {"int", "uint", "float", "bool"})
    if (name.starts_with(prefix))
      return true;
  return name == "bfloat16";
}

std::optional<runtime::DType> buildDType(ResolveContext& context, std::string_view name,
                                         lang::SourceRange range) {
  auto dtype = runtime::parseDType(name);
  if (!dtype)
    suggestDType(context.diagnostics.report(Message::UnknownDType, range, name), range, name,
                 false);
  return dtype;
}

std::string_view kindText(lang::ParameterKind kind) {
  return kind == lang::ParameterKind::Dimension ? "a dimension" : "a type";
}

/// Uses a parameter as what its place needs; its first use says what it is.
bool useParameter(ResolveContext& context, const lang::TypeParameter& parameter,
                  lang::ParameterKind wanted, lang::SourceRange range) {
  if (parameter.kind == lang::ParameterKind::Open)
    parameter.kind = wanted;
  if (parameter.kind == wanted)
    return true;
  context.diagnostics.report(Message::KindMismatch, range, parameter.name, kindText(parameter.kind),
                             kindText(wanted));
  // Other uses of that kind are the same mistake.
  parameter.kind = wanted;
  return false;
}

/// A type parameter that the signature names by a letter; null for any other name.
const lang::TypeParameter* findLetter(const ResolveContext& context, std::string_view name) {
  const auto& letters = context.bare.letters;
  auto known = std::ranges::find(letters, name, &lang::TypeParameter::name);
  return known == letters.end() ? nullptr : *known;
}

/// A constant of a text as a size; null where none is meant.
const lang::Dim* buildConstantDim(ResolveContext& context, const surface::Dim& dim) {
  if (!isBare(context) || context.locals.find(dim.name))
    return nullptr;
  bool isMember = dim.name.find('.') != std::string_view::npos;
  auto value = wholeConstant(*context.unit, dim.name);
  if (!value && isMember && !reportUnknownMember(context, dim.name, dim.range, MemberKind::Value))
    context.diagnostics.report(Message::UnknownSize, dim.range, dim.name);
  if (value && *value < 0)
    context.diagnostics.report(Message::NegativeDimension, dim.range, *value);
  lang::TypeContext& types = context.module.types;
  return value ? types.constant(*value) : isMember ? types.any() : nullptr;
}

/// A name that nothing binds is a dimension of the definition around it.
const lang::Dim* buildNamedDim(ResolveContext& context, const surface::Dim& dim) {
  lang::TypeContext& types = context.module.types;
  const auto* parameter = context.typeParameters.find(dim.name);
  if (!parameter)
    parameter = findLetter(context, dim.name);
  if (parameter && !useParameter(context, *parameter, lang::ParameterKind::Dimension, dim.range))
    return types.any();
  if (const lang::Dim* constant = parameter ? nullptr : buildConstantDim(context, dim))
    return constant;
  const lang::Dim* size = parameter ? types.symbol(parameter) : types.symbol(dim.name);
  if (isBare(context))
    context.bare.sizes[dim.name] = size;
  return size;
}

const lang::Dim* buildDim(ResolveContext& context, const surface::Dim& dim);

/// A form that overflows, or is longer than dimensions may be.
void reportTooLarge(ResolveContext& context, lang::SourceRange range, bool isTooLong) {
  const std::string text = clipped(textAt(context, range));
  if (isTooLong)
    context.diagnostics.report(Message::DimensionTooLong, range, text, lang::mostDimTerms,
                               lang::mostDimFactors);
  else
    context.diagnostics.report(Message::NumberOutOfRange, range, text, "a dimension");
}

const lang::Dim* divideDim(ResolveContext& context, const surface::Dim& operation,
                           const lang::Dim* left, const lang::Dim* right) {
  if (right->isConstant() && right->value > 0)
    return context.module.types.floorDivide(left, right->value);
  bool wasReported = right->isAny() && operation.right->left;
  if (!wasReported)
    context.diagnostics.report(Message::UnusableDivisor, operation.right->range,
                               lang::dimText(right));
  return left;
}

/// A form that has become `?` without a `?` in it was too large.
const lang::Dim* notTooLarge(ResolveContext& context, const lang::Dim* form, bool holdsAny,
                             lang::SourceRange range, uint64_t longBefore) {
  if (form->isAny() && !holdsAny)
    reportTooLarge(context, range, context.module.types.longForms() != longBefore);
  return form;
}

/// `a + b - c`: the operations of `spine`, last first, on `first`.
const lang::Dim* buildSum(ResolveContext& context, const lang::Dim* first,
                          std::span<const surface::Dim* const> spine) {
  lang::TypeContext& types = context.module.types;
  std::vector<lang::DimTerm> summands{{first, 1}};
  for (size_t i = spine.size(); i-- > 0;)
    summands.push_back({buildDim(context, *spine[i]->right),
                        spine[i]->kind == surface::DimKind::Difference ? -1 : 1});
  auto isAny = [](const lang::DimTerm& summand) { return summand.variable->isAny(); };
  uint64_t longBefore = types.longForms();
  return notTooLarge(context, types.addAll(summands), std::ranges::any_of(summands, isAny),
                     spine[0]->range, longBefore);
}

/// `a * b / 2`, as in buildSum.
const lang::Dim* buildProduct(ResolveContext& context, const lang::Dim* first,
                              std::span<const surface::Dim* const> spine) {
  lang::TypeContext& types = context.module.types;
  const lang::Dim* result = first;
  for (size_t i = spine.size(); i-- > 0;) {
    const surface::Dim& operation = *spine[i];
    const lang::Dim* right = buildDim(context, *operation.right);
    bool holdsAny = result->isAny() || right->isAny();
    uint64_t longBefore = types.longForms();
    result = operation.kind == surface::DimKind::Product
                 ? types.multiply(result, right)
                 : divideDim(context, operation, result, right);
    notTooLarge(context, result, holdsAny, operation.range, longBefore);
  }
  return result;
}

/// Arithmetic, by a loop down its left side; brackets nest no deeper than the reader allows. All
/// operations of one level are sums and differences, or products and quotients.
const lang::Dim* buildArithmetic(ResolveContext& context, const surface::Dim& dim) {
  auto isSum = [](const surface::Dim& at) {
    return at.kind == surface::DimKind::Sum || at.kind == surface::DimKind::Difference;
  };
  std::vector<const surface::Dim*> spine;
  const surface::Dim* at = &dim;
  for (; at->left && isSum(*at) == isSum(dim); at = at->left)
    spine.push_back(at);
  const lang::Dim* first = buildDim(context, *at);
  const lang::Dim* result =
      isSum(dim) ? buildSum(context, first, spine) : buildProduct(context, first, spine);
  if (result->isConstant() && result->value < 0)
    context.diagnostics.report(Message::NegativeDimension, dim.range, result->value);
  return result;
}

const lang::Dim* buildDim(ResolveContext& context, const surface::Dim& dim) {
  lang::TypeContext& types = context.module.types;
  switch (dim.kind) {
  case surface::DimKind::Sum:
  case surface::DimKind::Difference:
  case surface::DimKind::Product:
  case surface::DimKind::Quotient:
    return buildArithmetic(context, dim);
  case surface::DimKind::Hole:
    return types.unknownDim(context.module.unknownDimCount++);
  case surface::DimKind::Any:
    return types.any();
  case surface::DimKind::Named:
    return buildNamedDim(context, dim);
  case surface::DimKind::Integer:
    if (dim.value < 0)
      context.diagnostics.report(Message::NegativeDimension, dim.range, dim.value);
    return types.constant(dim.value);
  case surface::DimKind::Leading:
    context.diagnostics.report(Message::ReservedForm, dim.range,
                               "leading dimensions elsewhere than in parameters and results of "
                               "definitions");
    return types.any();
  case surface::DimKind::Meta:
    break;
  }
  auto number = findMetadata(context, dim.meta, dim.range);
  if (!number)
    return types.any();
  const lang::Dim* read = metadataDim(context, *number);
  if (!read) {
    context.diagnostics.report(Message::UnusableMetadata, dim.range, dim.meta.key, dim.meta.index,
                               "dimension");
    return types.any();
  }
  if (read->isConstant() && read->value < 0)
    context.diagnostics.report(Message::NegativeDimension, dim.range, read->value);
  return read;
}

const Type* buildTensor(ResolveContext& context, const surface::TensorType& type) {
  std::vector<const lang::Dim*> dims;
  bool isWide = false;
  for (const surface::Dim& dim : type.shape) {
    dims.push_back(buildDim(context, dim));
    isWide |= dim.is64 && lang::isNarrowNumber(dims.back());
  }
  auto dtype = buildDType(context, type.dtype.text, type.dtype.range);
  if (!checkRank(context, "this type", dims.size(), type.range))
    return context.module.types.error();
  return dtype ? context.module.types.tensor(dims, *dtype, isWide) : context.module.types.error();
}

const Type* unknownType(ResolveContext& context) {
  return context.module.types.unknown(context.module.unknownCount++);
}

/// A type inside another one, where `_` stands for an unknown.
const Type* buildPart(ResolveContext& context, const surface::Type* type) {
  const Type* part = buildType(context, type);
  return part ? part : unknownType(context);
}

/// An argument of a type as a size; `?` after a report.
const lang::Dim* buildSize(ResolveContext& context, const surface::Type* argument) {
  if (const auto* size = surface::tryAs<surface::SizeType>(argument))
    return buildDim(context, *size->dim);
  if (const auto* named = surface::tryAs<surface::NamedType>(argument);
      named && named->arguments.empty() && !namedDType(named->name))
    return buildNamedDim(
        context, {.kind = surface::DimKind::Named, .range = named->range, .name = named->name});
  if (argument->kind == surface::TypeKind::Hole)
    return context.module.types.unknownDim(context.module.unknownDimCount++);
  context.diagnostics.report(Message::TypeAsSize, argument->range);
  return context.module.types.any();
}

} // namespace

const lang::PartialTensor* buildPartial(ResolveContext& context, const surface::Type* type) {
  const auto* named = type ? surface::tryAs<surface::NamedType>(type) : nullptr;
  if (!named || !isBare(context) || named->arguments.empty())
    return nullptr;
  auto isLeading = [](const surface::Type* argument) {
    const auto* size = surface::tryAs<surface::SizeType>(argument);
    return size && size->dim->kind == surface::DimKind::Leading;
  };
  bool hasLeading = isLeading(named->arguments[0]);
  auto dtype = namedDType(named->name);
  if (named->name != "_" && !(dtype && hasLeading))
    return nullptr;
  std::vector<const lang::Dim*> shape;
  for (const surface::Type* argument : named->arguments.subspan(hasLeading ? 1 : 0))
    shape.push_back(buildSize(context, argument));
  return context.module.arena.make<lang::PartialTensor>(
      dtype.value_or(runtime::DType{.bits = 0}), context.module.arena.copy(shape), hasLeading);
}

namespace {

/// `f32[n, 784]`.
const Type* buildShortTensor(ResolveContext& context, runtime::DType dtype,
                             std::span<const surface::Type* const> arguments,
                             lang::SourceRange range) {
  std::vector<const lang::Dim*> dims;
  bool isWide = false;
  for (const surface::Type* argument : arguments) {
    dims.push_back(buildSize(context, argument));
    const auto* size = surface::tryAs<surface::SizeType>(argument);
    isWide |= size && size->dim->is64 && lang::isNarrowNumber(dims.back());
  }
  if (!checkRank(context, "this type", dims.size(), range))
    return context.module.types.error();
  return context.module.types.tensor(dims, dtype, isWide);
}

/// `Tensor[(n, 784), float32]` in Baton's notation; null where it is not of that form.
const Type* buildLongTensor(ResolveContext& context, const surface::NamedType& type) {
  if (type.name != "Tensor" || type.arguments.size() != 2)
    return nullptr;
  const auto* shape = surface::tryAs<surface::TupleType>(type.arguments[0]);
  const auto* element = surface::tryAs<surface::NamedType>(type.arguments[1]);
  auto dtype = element ? namedDType(element->name) : std::nullopt;
  return dtype ? buildShortTensor(context, *dtype, shape ? shape->fields : type.arguments.first(1),
                                  type.range)
               : nullptr;
}

/// The type that an alias stands for.
const Type* buildAlias(ResolveContext& context, const surface::TypeDefinition& alias,
                       lang::SourceRange range) {
  auto& open = context.bare.openAliases;
  lang::TypeContext& types = context.module.types;
  if (!alias.generics.empty()) {
    context.diagnostics.report(Message::ReservedForm, alias.generics[0].range,
                               "parameters of aliases");
    return types.error();
  }
  if (std::ranges::count(open, &alias) > 0) {
    context.diagnostics.report(Message::RecursiveAlias, range, alias.name.text);
    return types.error();
  }
  open.push_back(&alias);
  const Type* type = buildType(context, alias.alias);
  open.pop_back();
  return type ? type : types.unknown(context.module.unknownCount++);
}

/// What only Baton's notation means by a name with arguments; null for what both mean.
const Type* buildBareType(ResolveContext& context, const surface::NamedType& type) {
  if (AliasEntry alias = context.definitions.findAlias(*context.unit, type.name); alias.surface) {
    InUnit unit(context, *alias.unit);
    return buildAlias(context, *alias.surface, type.range);
  }
  if (type.name == "_") {
    context.diagnostics.report(Message::ReservedForm, type.range,
                               "tensors of any element type elsewhere than in parameters and "
                               "results of definitions");
    return context.module.types.error();
  }
  if (auto dtype = namedDType(type.name); dtype && !context.typeParameters.find(type.name))
    return buildShortTensor(context, *dtype, type.arguments, type.range);
  if (type.name == "Ref" && type.arguments.size() == 1) {
    const Type* inner = buildType(context, type.arguments[0]);
    return context.module.types.reference(
        inner ? inner : context.module.types.unknown(context.module.unknownCount++));
  }
  return buildLongTensor(context, type);
}

/// An argument that is left out is found out. In fields of data types nobody finds it out: there
/// the type that is defined is the very one, and sizes of others may be any.
const Type* leftOutArgument(ResolveContext& context, const lang::TypeDefinition& definition,
                            size_t i) {
  lang::TypeContext& types = context.module.types;
  bool isSize = definition.generics[i]->kind == lang::ParameterKind::Dimension;
  if (&definition == context.bare.defined)
    return isSize ? types.dimension(types.symbol(definition.generics[i]))
                  : types.variable(definition.generics[i]);
  if (!isSize)
    return unknownType(context);
  return types.dimension(context.bare.defined ? types.any()
                                              : types.unknownDim(context.module.unknownDimCount++));
}

/// The arguments of a type, which are types and sizes as its parameters are.
std::vector<const Type*> buildArguments(ResolveContext& context, const surface::NamedType& type,
                                        const lang::TypeDefinition* definition) {
  std::vector<const Type*> arguments;
  if (definition)
    decideParameterKinds(context, *definition);
  size_t wanted = definition ? definition->generics.size() : 0;
  for (size_t i = 0; i < type.arguments.size(); ++i) {
    bool isSize = i < wanted && definition->generics[i]->kind == lang::ParameterKind::Dimension;
    arguments.push_back(isSize
                            ? context.module.types.dimension(buildSize(context, type.arguments[i]))
                            : buildPart(context, type.arguments[i]));
  }
  if (arguments.empty() && isBare(context))
    for (size_t i = 0; i < wanted; ++i)
      arguments.push_back(leftOutArgument(context, *definition, i));
  return arguments;
}

/// The type parameter that a small letter is in the signature of a definition, as names of sizes
/// are, and behind it. Null for anything else.
const lang::TypeParameter* letterParameter(ResolveContext& context,
                                           const surface::NamedType& type) {
  if (!isBare(context) || type.name.size() != 1 || type.name[0] < 'a' || type.name[0] > 'z' ||
      !type.arguments.empty() || context.definitions.findType(*context.unit, type.name))
    return nullptr;
  if (const lang::TypeParameter* known = findLetter(context, type.name))
    return known;
  if (!context.bare.isSignature || context.bare.sizes.contains(type.name))
    return nullptr;
  context.bare.letters.push_back(context.module.arena.make<lang::TypeParameter>(type.name));
  return context.bare.letters.back();
}

const Type* buildNamedType(ResolveContext& context, const surface::NamedType& type) {
  lang::TypeContext& types = context.module.types;
  if (isBare(context))
    if (const Type* bare = buildBareType(context, type))
      return bare;
  if (readsAsDType(type.name)) {
    auto dtype = buildDType(context, type.name, type.range);
    return dtype ? types.scalar(*dtype) : types.error();
  }
  size_t wanted = 0;
  const lang::TypeParameter* parameter = context.typeParameters.find(type.name);
  if (!parameter)
    parameter = letterParameter(context, type);
  const lang::TypeDefinition* definition = nullptr;
  if (!parameter) {
    definition = context.definitions.findType(*context.unit, type.name);
    if (!definition && reportUnknownMember(context, type.name, type.range, MemberKind::Type))
      return types.error();
    if (!definition) {
      if (auto dtype = runtime::parseDType(type.name))
        return types.scalar(*dtype);
      if (isBare(context) && reportForeignType(context, type))
        return types.error();
      auto& report = context.diagnostics.report(Message::UnknownType, type.range, type.name);
      lang::SourceRange name{type.range.begin, type.range.begin + uint32_t(type.name.size())};
      if (wantsHints(context)) {
        suggestImport(context, report, type.name.substr(0, type.name.find('.')));
        suggestNames(report, name, type.name,
                     std::vector{NameChoices{"", context.definitions.typeNames()}});
        suggestDType(report, name, type.name, false);
      }
      return types.error();
    }
    wanted = definition->generics.size();
  }
  std::vector<const Type*> arguments = buildArguments(context, type, definition);
  if (arguments.size() != wanted) {
    auto& report = context.diagnostics.report(
        Message::TypeArgumentCount, type.range, type.name, wanted, wanted == 1 ? "" : "s",
        arguments.size() == 1 ? "1 is" : fmt::format("{} are", arguments.size()));
    constexpr size_t mostHoles = 16;
    if (arguments.empty() && wanted <= mostHoles)
      report.suggest(
          {"what they are may be inferred: {}",
           {{{type.range.end, type.range.end},
             fmt::format("[{}]", fmt::join(std::vector<std::string_view>(wanted, "_"), ", "))}},
           type.range});
    return types.error();
  }
  if (!parameter)
    return types.data(definition, arguments);
  return useParameter(context, *parameter, lang::ParameterKind::Type, type.range)
             ? types.variable(parameter)
             : types.error();
}

const Type* buildFunctionType(ResolveContext& context, const surface::FunctionType& type) {
  context.typeParameters.openFrame();
  std::vector<const lang::TypeParameter*> generics;
  for (const surface::Identifier& generic : type.generics) {
    generics.push_back(context.module.arena.make<lang::TypeParameter>(generic.text));
    context.typeParameters.bind(generic.text, generics.back());
  }
  std::vector<const Type*> parameters;
  for (const surface::Type* parameter : type.parameters)
    parameters.push_back(buildPart(context, parameter));
  const Type* result = buildPart(context, type.result);
  context.typeParameters.closeFrame();
  return context.module.types.function(parameters, result, generics);
}

const Type* buildTuple(ResolveContext& context, const surface::TupleType& type) {
  std::vector<const Type*> fields;
  for (const surface::Type* field : type.fields)
    fields.push_back(buildPart(context, field));
  return context.module.types.tuple(fields);
}

} // namespace

std::optional<runtime::DType> namedDType(std::string_view name) {
  auto brief = runtime::parseShortDType(name);
  return brief ? brief : runtime::parseDType(name);
}

bool checkRank(ResolveContext& context, std::string_view what, size_t rank,
               lang::SourceRange range) {
  if (rank <= runtime::mostDimensions)
    return true;
  context.diagnostics.report(Message::RankTooLarge, range, what, rank, runtime::mostDimensions);
  return false;
}

const Type* buildType(ResolveContext& context, const surface::Type* type) {
  if (!type)
    return nullptr;
  switch (type->kind) {
  case surface::TypeKind::Hole:
    return nullptr;
  case surface::TypeKind::Named:
    return buildNamedType(context, surface::as<surface::NamedType>(type));
  case surface::TypeKind::Tensor:
    return buildTensor(context, surface::as<surface::TensorType>(type));
  case surface::TypeKind::Tuple:
    return buildTuple(context, surface::as<surface::TupleType>(type));
  case surface::TypeKind::Function:
    return buildFunctionType(context, surface::as<surface::FunctionType>(type));
  case surface::TypeKind::Ref:
    return context.module.types.reference(
        buildPart(context, surface::as<surface::RefType>(type).inner));
  case surface::TypeKind::Meta:
    return unknownType(context);
  case surface::TypeKind::Size:
    context.diagnostics.report(Message::SizeAsType, type->range);
    return context.module.types.error();
  }
  return nullptr;
}

} // namespace parser
