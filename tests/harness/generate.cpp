// Definitions, callees first, and `@main` last. Parameters are added as bodies need them.
#include "tests/harness/generate.h"

#include "tests/harness/generator.h"

#include <algorithm>
#include <iterator>

namespace harness {

using namespace lang;

Program generateProgram(Universe& universe, uint64_t seed, const GenerateOptions& options) {
  return Generator(universe, seed, options).program();
}

Program Generator::program() {
  program_.types = &types_;
  for (int64_t i = random_.integer(0, 4); i > 0; --i) {
    size_t choice = random_.index(10);
    if (choice < 6)
      plainDefinition();
    else if (choice < 9)
      recursiveDefinition();
    else
      recursivePair();
  }
  mainDefinition();
  return std::move(program_);
}

/// Mostly a stem with a number; now and then a name that printers must change or might mistake.
std::string Generator::freshName(const char* stem) {
  static const std::vector<std::string> odd{"inff",  "inff16", "inff3",  "inf",  "nanf", "nanf64",
                                            "nanfx", "vinff",  "vinff1", "lets", "True", "Tensor",
                                            "int32", "fn_",    "f32",    "i64",  "e5",   "v",
                                            "x/y",   "v1",     "_",      "meta"};
  if (random_.chance(8))
    if (auto [name, isNew] = oddNames_.insert(random_.pick(odd)); isNew)
      return *name;
  std::string name = stem + std::to_string(names_++);
  return std::ranges::count(odd, name) == 0 ? name : stem + std::to_string(names_++);
}

void Generator::beginDefinition(std::string name) {
  if (!generics_.empty() || mayUseSymbols_)
    graphs_.clear();
  definitionName_ = std::move(name);
  parameters_.clear();
  parameterLocals_.clear();
  generics_.clear();
  locals_.clear();
  mayAddParameters_ = true;
  mayUseSymbols_ = false;
  self_.reset();
  selfCalls_ = 0;
  openSelfCalls_.clear();
  isBounded_ = false;
  sizes_.dims.clear();
  for (const Dim* symbol : universe_.symbols)
    sizes_.dims.emplace(symbol, types_.constant(random_.integer(random_.chance(20) ? 0 : 1, 6)));
  // Lines of other definitions can be used when they need no locals, and when type parameters and
  // named dimensions were not around that they may mention.
  std::erase_if(graphs_, [&](const Variable& graph) {
    return !graphNeeds_.at(graph.name).empty() || !random_.chance(30);
  });
}

void Generator::addParameter(const Type* type) {
  parameters_.push_back({freshName("a"), type, true});
  parameterLocals_.push_back({NodeKind::Local, parameters_.back().name, type});
  // A form such as `n - 1` wants callers that make it no less than 0.
  isBounded_ |= anyPart(type, [](const Type* part) {
    return !std::ranges::all_of(part->shape, [](const Dim* dim) { return isAtLeast(dim, 0); });
  });
}

void Generator::chooseGenerics(int most) {
  for (int64_t i = random_.integer(0, most); i > 0; --i)
    generics_.push_back(&universe_.generics[generics_.size()]);
  for (const TypeParameter* generic : generics_)
    addParameter(types_.variable(generic));
  mayUseSymbols_ = !universe_.symbols.empty() && random_.chance(50);
}

void Generator::plainDefinition() {
  if (random_.chance(15))
    beginFunctionOfRecord();
  else
    beginDefinition(freshName("f"));
  if (random_.chance(50))
    chooseGenerics(2);
  for (int64_t i = random_.integer(0, 2); i > 0; --i)
    addParameter(randomType(2));
  const Type* result = randomType(2);
  bool isAnnotated = random_.chance(50);
  NodeId body = block(result, int(options_.depth), isAnnotated);
  callables_.push_back(finishDefinition(body, result, isAnnotated));
}

/// An int32 variable and a literal.
NodeId Generator::onNumber(const char* infix, const std::string& left, const char* right,
                           const Type* type) {
  const Type* number = scalar(runtime::Int32);
  NodeId local = program_.add({NodeKind::Local, number, left});
  NodeId literal = program_.add({NodeKind::Literal, number, right});
  Node node{NodeKind::Operator, type, infix, {local, literal}};
  node.isInfix = true;
  return program_.add(std::move(node));
}

/// `if (%n <= 0) { ... } else { let %k = %n - 1; ... }`, where the second block may call `self_`.
NodeId Generator::recursiveBody(const Type* result, bool pinned) {
  const Type* number = scalar(runtime::Int32);
  const std::string count = parameters_[0].name;
  std::optional<Callable> self = std::exchange(self_, std::nullopt);
  const char* comparison = random_.chance(40) ? "==" : "<=";
  NodeId condition = onNumber(comparison, count, "0", scalar(runtime::Bool));
  NodeId base = block(result, 2, pinned);
  self_ = std::move(self);
  selfCalls_ = size_t(random_.integer(1, 2));
  fuel_ = freshName("k");
  Node step{NodeKind::Block, result};
  step.items.push_back({ItemKind::Let, {fuel_, number}});
  step.parts.push_back(onNumber("-", count, "1", number));
  locals_.push_back({NodeKind::Local, fuel_, number});
  step.parts.push_back(expr(result, int(options_.depth) - 1, pinned));
  locals_.clear();
  self_.reset();
  NodeId otherwise = program_.add(std::move(step));
  return program_.add({NodeKind::If, result, {}, {condition, base, otherwise}});
}

void Generator::recursiveDefinition() {
  beginDefinition(freshName("r"));
  addParameter(scalar(runtime::Int32));
  if (random_.chance(40))
    chooseGenerics(2);
  for (int64_t i = random_.integer(0, 2); i > 0; --i)
    addParameter(randomType(1));
  const Type* result = randomType(2);
  bool isAnnotated = random_.chance(60);
  Callable self{.name = definitionName_, .parameters = {}, .result = result, .fuel = 0};
  for (const Binder& parameter : parameters_)
    self.parameters.push_back(parameter.type);
  self_ = self;
  NodeId body = recursiveBody(result, isAnnotated);
  for (NodeId open : openSelfCalls_)
    for (size_t i = self.parameters.size(); i < parameters_.size(); ++i) {
      NodeId same = program_.add({NodeKind::Local, parameters_[i].type, parameters_[i].name});
      program_.nodes[open].parts.push_back(same);
    }
  callables_.push_back(finishDefinition(body, result, isAnnotated));
  callables_.back().fuel = 0;
}

/// Two functions that call each other; their parameters are fixed before.
void Generator::recursivePair() {
  std::string names[] = {freshName("r"), freshName("r")};
  beginDefinition(names[0]);
  mayUseSymbols_ = false;
  const Type* results[2] = {};
  std::vector<const Type*> parameters[2];
  for (size_t i = 0; i < 2; ++i) {
    parameters[i].push_back(scalar(runtime::Int32));
    for (int64_t count = random_.integer(0, 2); count > 0; --count)
      parameters[i].push_back(randomType(1));
    results[i] = randomType(1);
  }
  std::vector<Callable> made;
  size_t before = program_.definitions.size();
  bool isFixed = true;
  for (size_t i = 0; i < 2; ++i) {
    beginDefinition(names[i]);
    mayAddParameters_ = mayUseSymbols_ = false;
    for (const Type* parameter : parameters[i])
      addParameter(parameter);
    self_ = Callable{
        .name = names[1 - i], .parameters = parameters[1 - i], .result = results[1 - i], .fuel = 0};
    bool isAnnotated = random_.chance(50);
    NodeId body = recursiveBody(results[i], isAnnotated);
    isFixed &= parameters_.size() == parameters[i].size();
    made.push_back(finishDefinition(body, results[i], isAnnotated));
    made.back().fuel = 0;
  }
  // A tensor that nothing else gives was made a parameter, which the other function does not know.
  if (!isFixed) {
    graphs_.clear();
    program_.definitions.erase(program_.definitions.begin() + ptrdiff_t(before),
                               program_.definitions.end());
    return;
  }
  callables_.insert(callables_.end(), made.begin(), made.end());
}

/// Leaves the annotation of some parameters away, whose type then a let in the body gives; named
/// dimensions must stand in the signature.
NodeId Generator::withInferredParameters(NodeId body) {
  Node node{NodeKind::Block, program_.node(body).type};
  for (Binder& parameter : parameters_)
    if (random_.chance(12) && !mentions(parameter.type, generics_) &&
        !hasOpenDims(parameter.type)) {
      parameter.isAnnotated = false;
      node.items.push_back({ItemKind::Let, {freshName("y"), parameter.type, true}});
      node.parts.push_back(program_.add({NodeKind::Local, parameter.type, parameter.name}));
    }
  if (node.items.empty())
    return body;
  node.parts.push_back(body);
  return program_.add(std::move(node));
}

/// Whether every named dimension is the extent of a parameter.
bool Generator::tellsSizes(const std::vector<const Type*>& parameters) const {
  return std::ranges::all_of(universe_.symbols, [&](const Dim* symbol) {
    return std::ranges::any_of(parameters, [symbol](const Type* parameter) {
      return parameter->isTensor() &&
             std::ranges::find(parameter->shape, symbol) != parameter->shape.end();
    });
  });
}

namespace {

/// Whether a body has a named size as a number, so that the signature must name it.
bool readsSizes(const Program& program, NodeId body) {
  return std::ranges::any_of(below(program, body), [&](NodeId id) {
    const Node& node = program.node(id);
    return node.kind == NodeKind::Extent && hasOpenDims(program.node(node.parts[0]).type);
  });
}

} // namespace

Callable Generator::finishDefinition(NodeId body, const Type* result, bool isResultAnnotated) {
  body = withInferredParameters(body);
  std::vector<const Type*> types;
  for (const Binder& parameter : parameters_)
    types.push_back(parameter.type);
  Node node{NodeKind::Function, types_.function(types, result, generics_)};
  node.generics = generics_;
  node.parameters = parameters_;
  node.isResultAnnotated = isResultAnnotated;
  node.parts = {body};
  bool usesSymbols = std::ranges::any_of(types, hasOpenDims);
  // What no parameter has the size of is `?` to callers.
  program_.isDynamic |= mayUseSymbols_ && !tellsSizes(types);
  DimStyle style = usesSymbols && !readsSizes(program_, body) && random_.chance(50)
                       ? DimStyle::Any
                       : DimStyle::Named;
  program_.isDynamic |= style == DimStyle::Any;
  program_.definitions.push_back({definitionName_, program_.add(std::move(node)), style});
  Callable made{.name = definitionName_,
                .generics = generics_,
                .parameters = std::move(types),
                .result = result};
  if (isBounded_)
    made.sizes = sizes_;
  return made;
}

void Generator::mainDefinition() {
  beginDefinition("main");
  mayUseSymbols_ = !universe_.symbols.empty() && random_.chance(25);
  for (int64_t i = random_.integer(0, 2); i > 0; --i)
    addParameter(randomTensor());
  std::vector<const Type*> fields;
  for (int64_t i = random_.integer(1, 4); i > 0; --i)
    fields.push_back(randomType(2));
  const Type* result = types_.tuple(fields);
  NodeId body = block(result, int(options_.depth), false);
  finishDefinition(body, result, false);
  chooseArguments();
}

void Generator::chooseArguments() {
  for (const Binder& parameter : parameters_)
    program_.arguments.push_back(substitute(types_, parameter.type, sizes_));
}

} // namespace harness
