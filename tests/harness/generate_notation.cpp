// Forms that only Baton's notation has: fields of records, sizes as numbers, computed shapes,
// indexing. What Relay's text has in their place is written by plain_forms.cpp.
#include "tests/harness/generator.h"

#include <algorithm>
#include <cctype>

namespace harness {

using namespace lang;

namespace {

bool isRecord(const TypeDefinition& definition) {
  return definition.constructors.size() == 1 && definition.constructors[0]->name == definition.name;
}

MatchPattern wholePattern(const Constructor& constructor) {
  return {.kind = PatternKind::Constructor,
          .constructor = std::string(constructor.name),
          .parts = std::vector<MatchPattern>(constructor.fields.size())};
}

/// A subscript that leaves `extent` elements, and of how many the dimension is then.
Subscript sliceLeaving(Random& random, int64_t extent, int64_t& whole) {
  Subscript slice{SubscriptKind::Slice};
  slice.step = random.chance(70) ? 1 : random.integer(2, 3);
  int64_t begin = random.integer(0, 2), end = begin + (extent - 1) * slice.step + 1;
  whole = end + random.integer(0, 2);
  if (begin > 0 || random.chance(30))
    slice.begin = random.chance(30) && begin > 0 ? begin - whole : begin;
  // Clamped, counted from the back, or just behind the last one that is read.
  if (slice.step > 1 || end < whole || random.chance(30))
    slice.end = end;
  if (end == whole && random.chance(30))
    slice.end = end + 5;
  else if (slice.end && end < whole && random.chance(40))
    slice.end = end - whole;
  return slice;
}

} // namespace

// Records.

/// The arguments of a data type that make a field of a constructor be of a type.
std::optional<std::vector<const Type*>> Generator::argumentsFor(const TypeDefinition& definition,
                                                                size_t field, const Type* goal) {
  Bindings bindings;
  if (!matchType(definition.constructors[0]->fields[field], goal, definition.generics, bindings))
    return std::nullopt;
  std::vector<const Type*> arguments;
  for (const TypeParameter* generic : definition.generics)
    if (isSize(generic)) {
      auto found = bindings.dims.find(types_.symbol(generic));
      arguments.push_back(
          types_.dimension(found == bindings.dims.end() ? randomExtent() : found->second));
    } else {
      auto found = bindings.types.find(generic);
      arguments.push_back(found == bindings.types.end() ? randomType(1) : found->second);
    }
  return arguments;
}

/// `p.x`.
std::optional<NodeId> Generator::fieldRead(const Type* goal, int depth) {
  std::vector<std::pair<const DataType*, size_t>> found;
  for (const DataType& data : universe_.dataTypes)
    for (size_t i = 0; isRecord(*data.definition) && !data.text.empty() &&
                       i < data.definition->constructors[0]->fields.size();
         ++i)
      if (Bindings bindings; matchType(data.definition->constructors[0]->fields[i], goal,
                                       data.definition->generics, bindings))
        found.emplace_back(&data, i);
  if (found.empty())
    return std::nullopt;
  auto [data, field] = random_.pick(found);
  const Constructor& constructor = *data->definition->constructors[0];
  const Type* record = types_.data(data->definition, *argumentsFor(*data->definition, field, goal));
  if (fieldType(types_, constructor, field, record) != goal)
    return std::nullopt;
  useDataType(*data);
  Node node{NodeKind::Field, goal, {}, {expr(record, depth, false)}, uint32_t(field)};
  node.patterns = {wholePattern(constructor)};
  return program_.add(std::move(node));
}

/// `p with (x = value)`, where the fields tell the type.
std::optional<NodeId> Generator::recordCopy(const Type* goal, int depth) {
  if (goal->kind != TypeKind::Data || !isRecord(*goal->definition))
    return std::nullopt;
  const Constructor& constructor = *goal->definition->constructors[0];
  for (const TypeParameter* generic : goal->definition->generics)
    if (std::ranges::none_of(constructor.fields, [&](const Type* field) {
          return mentions(field, std::span(&generic, 1));
        }))
      return std::nullopt;
  useDataType(universe_.dataType(goal->definition));
  size_t field = random_.index(constructor.fields.size());
  NodeId record = expr(goal, depth, false);
  NodeId value = expr(fieldType(types_, constructor, field, goal), depth, false);
  Node node{NodeKind::With, goal, {}, {record, value}, uint32_t(field)};
  node.patterns = {wholePattern(constructor)};
  return program_.add(std::move(node));
}

/// Begins a definition that calls of a record mean, which is named as the type; or any other one.
void Generator::beginFunctionOfRecord() {
  std::vector<std::pair<const DataType*, std::string>> found;
  for (const DataType& data : universe_.dataTypes) {
    std::string name(data.definition->name);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char letter) { return std::tolower(letter); });
    if (isRecord(*data.definition) && !data.text.empty() &&
        std::ranges::count(program_.definitions, name, &Definition::name) == 0)
      found.emplace_back(&data, name);
  }
  if (found.empty())
    return beginDefinition(freshName("f"));
  auto [data, name] = random_.pick(found);
  beginDefinition(name);
  addParameter(randomData(*data, 2));
}

// Sizes.

NodeId Generator::compute(const char* infix, NodeId left, int64_t right) {
  const Type* number = scalar(runtime::Int32);
  NodeId literal = program_.add({NodeKind::Literal, number, std::to_string(right) + "i32"});
  Node node{NodeKind::Operator, number, infix, {left, literal}};
  node.isInfix = true;
  return program_.add(std::move(node));
}

/// An extent of a tensor, with which a number can be computed: of a parameter for a named size.
std::optional<NodeId> Generator::extent(const std::function<bool(const Dim*)>& isWanted) {
  std::vector<std::pair<const Variable*, size_t>> found;
  for (const auto* list : {&parameterLocals_, &locals_})
    for (const Variable& local : *list)
      for (size_t i = 0; local.type && local.type->isTensor() && i < local.type->shape.size(); ++i)
        if (isWanted(local.type->shape[i]) &&
            (list == &parameterLocals_ || local.type->shape[i]->isConstant()))
          found.emplace_back(&local, i);
  if (found.empty())
    return std::nullopt;
  auto [variable, axis] = random_.pick(found);
  NodeId tensor = use(*variable);
  Node node{NodeKind::Extent, scalar(runtime::Int32), {}, {tensor}, uint32_t(axis)};
  return program_.add(std::move(node));
}

/// A number, or one that is computed from an extent.
NodeId Generator::sizeOfNumber(int64_t number) {
  const Type* type = scalar(runtime::Int32);
  auto isNumber = [](const Dim* dim) { return dim->isConstant(); };
  auto found = random_.chance(60) ? extent(isNumber) : std::nullopt;
  if (!found)
    return program_.add({NodeKind::Literal, type, std::to_string(number) + "i32"});
  const Node& node = program_.node(*found);
  int64_t known = program_.node(node.parts[0]).type->shape[node.index]->value;
  if (known == number)
    return *found;
  if (known > 0 && number % known == 0 && random_.chance(60))
    return compute("*", *found, number / known);
  if (number > 0 && known > number && known / (known / number) == number && random_.chance(60))
    return compute("/", *found, known / number);
  return known < number ? compute("+", *found, number - known)
                        : compute("-", *found, known - number);
}

/// The code of a size; nothing where no parameter has a name of it by itself.
std::optional<NodeId> Generator::sizeCode(const Dim* dim) {
  if (dim->isConstant())
    return sizeOfNumber(dim->value);
  if (dim->kind == DimKind::Symbol)
    return extent([dim](const Dim* each) { return each == dim; });
  if (dim->kind == DimKind::Quotient && dim->terms.size() == 1) {
    auto dividend = sizeCode(dim->terms[0].variable);
    return dividend ? std::optional(compute("/", *dividend, dim->terms[0].coefficient))
                    : std::nullopt;
  }
  if (dim->kind != DimKind::Linear || dim->terms.size() != 1)
    return std::nullopt;
  auto made = sizeCode(dim->terms[0].variable);
  if (!made)
    return std::nullopt;
  NodeId code = *made;
  if (dim->terms[0].coefficient != 1)
    code = compute("*", code, dim->terms[0].coefficient);
  if (dim->value != 0)
    code = dim->value > 0 ? compute("+", code, dim->value) : compute("-", code, -dim->value);
  return code;
}

/// `reshape(x, [b, 2 * n])` and its like.
std::optional<NodeId> Generator::computedShape(const Type* goal, int depth) {
  if (!goal->isTensor() || goal->shape.empty() || goal->isWide)
    return std::nullopt;
  static constexpr const char* operators[] = {"zeros", "ones", "reshape", "broadcast_to"};
  Node node{NodeKind::ComputedShape, goal, operators[random_.index(std::size(operators))]};
  std::vector<const Dim*> data(goal->shape.rbegin(), goal->shape.rend());
  // A 0 among the extents means another one there.
  auto isZero = [&](const Dim* dim) {
    const Dim* sized = types_.substitute(dim, [&](const Dim* symbol) {
      auto found = sizes_.dims.find(symbol);
      return found == sizes_.dims.end() ? symbol : found->second;
    });
    return !sized->isConstant() || sized->value == 0;
  };
  if (node.text == "reshape" && std::ranges::any_of(goal->shape, isZero))
    return std::nullopt;
  if (node.text == "broadcast_to")
    data.assign(goal->shape.end() - random_.integer(0, 1), goal->shape.end());
  std::vector<NodeId> extents;
  for (const Dim* dim : goal->shape) {
    auto code = sizeCode(dim);
    if (!code)
      return std::nullopt;
    extents.push_back(*code);
  }
  if (node.text == "reshape" || node.text == "broadcast_to")
    node.parts.push_back(expr(types_.tensor(Dims(data), goal->dtype), depth, false));
  node.index = uint32_t(node.parts.size());
  node.parts.insert(node.parts.end(), extents.begin(), extents.end());
  return program_.add(std::move(node));
}

/// A tensor that a definition makes in the shape that its use wants.
std::optional<NodeId> Generator::wantedShape(const Type* goal) {
  bool isGood = goal->isTensor() && goal->dtype == runtime::Float32 && !hasOpenDims(goal) &&
                !goal->isWide && (goal->shape.size() == 1 || goal->shape.size() == 2);
  if (!isGood)
    return std::nullopt;
  return program_.add({NodeKind::WantedShape, goal, {}, {literal(runtime::Float32)}});
}

// Indexing.

/// `x[0, 1:, .., None]`, made from the back: each dimension of the result is whole, a slice, or
/// new, and between them are dimensions that a position takes.
std::optional<NodeId> Generator::indexed(const Type* goal, int depth) {
  if (!goal->isTensor() || goal->isWide || goal->shape.size() > 3)
    return std::nullopt;
  Node node{NodeKind::Index, goal};
  std::vector<const Dim*> shape;
  auto position = [&] {
    int64_t extent = random_.integer(1, 4);
    shape.push_back(types_.constant(extent));
    node.subscripts.push_back({SubscriptKind::At, random_.integer(-extent, extent - 1)});
  };
  for (const Dim* dim : goal->shape) {
    if (random_.chance(25))
      position();
    if (dim->isConstant(1) && random_.chance(40)) {
      node.subscripts.push_back({SubscriptKind::New});
      continue;
    }
    int64_t whole = 0;
    bool isSliced = dim->isConstant() && dim->value > 0 && random_.chance(50);
    node.subscripts.push_back(isSliced ? sliceLeaving(random_, dim->value, whole)
                                       : Subscript{SubscriptKind::Slice});
    shape.push_back(isSliced ? types_.constant(whole) : dim);
  }
  if (random_.chance(40) || node.subscripts.empty())
    position();
  node.parts = {expr(types_.tensor(Dims(shape), goal->dtype), depth, false)};
  return program_.add(std::move(node));
}

std::optional<NodeId> Generator::notationForm(const Type* goal, int depth) {
  switch (random_.index(6)) {
  case 0:
  case 1:
    return fieldRead(goal, depth);
  case 2:
    return goal->kind == TypeKind::Data ? recordCopy(goal, depth) : wantedShape(goal);
  case 3:
    return computedShape(goal, depth);
  default:
    return goal->kind == TypeKind::Data ? recordCopy(goal, depth) : indexed(goal, depth);
  }
}

} // namespace harness
