// The descent: frames for blocks in the making. When the blocks inside a value are all copied, the
// value is, and then it is bound.
#include "lang/ir/rewrite.h"

#include "lang/ir/walk.h"
#include "runtime/budget.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace lang {

Rewriter::Rewriter(const Module& from, Builder& into)
    : make(into), from_(from), atoms_(staysInModule() ? 0 : from.varCount),
      types_(into.types, {.parameter = [this](auto* old) { return parameter(old); },
                          .definition = [this](auto* old) { return definition(old); },
                          .origin =
                              [this](const void* old) {
                                auto found = metadata_.find(old);
                                return found == metadata_.end() ? old : found->second;
                              }}) {}

/// Where numbers go down the room in front doubles.
Atom& Rewriter::known(const Var& old) {
  if (atoms_.empty())
    firstAtom_ = old.number;
  if (old.number < firstAtom_) {
    size_t more = std::min(firstAtom_, std::max(firstAtom_ - old.number, atoms_.size()));
    atoms_.insert(atoms_.begin(), more, nullptr);
    firstAtom_ -= more;
  }
  size_t place = old.number - firstAtom_;
  if (place >= atoms_.size())
    atoms_.resize(place + 1);
  return atoms_[place];
}

// Blocks.

void Rewriter::open(const Block& block) {
  auto own = std::make_unique<BlockBuilder>(make);
  BlockBuilder* out = own.get();
  frames_.push_back({&block, bindingsOf(block), out});
  frames_.back().own = std::move(own);
  openBlock(block, *out);
}

void Rewriter::openSplice(const Binding& binding) {
  BlockBuilder* out = frames_.back().out;
  const Block& block = spliced(binding, *out);
  frames_.push_back({&block, bindingsOf(block), out});
}

const Block* Rewriter::block(const Block& root) {
  size_t base = frames_.size();
  open(root);
  for (;;) {
    Frame& frame = frames_.back();
    if (frame.next < frame.bindings.size()) {
      start(frame);
      continue;
    }
    Operand result{resultOf(*frame.source), frame.source->result.range};
    const Block* done = nullptr;
    if (frame.own) {
      closeBlock(*frame.source);
      done = make.arena.make<Block>(make.arena.copy(frame.own->bindings()), result);
    }
    frames_.pop_back();
    if (frames_.size() == base)
      return done;
    if (done)
      receive(done);
    else
      finishBinding(frames_.back(), result.value);
  }
}

/// Begins with the next binding: its value, if no blocks are inside, is copied at once.
void Rewriter::start(Frame& frame) {
  runtime::Budget::step();
  const Binding& binding = frame.bindings[frame.next++];
  frame.binding = &binding;
  known(*binding.var) = nullptr;
  Fate fate = enter(binding);
  if (fate == Fate::Splice)
    openSplice(binding);
  if (fate != Fate::Copy)
    return;
  frame.parts.clear();
  frame.patterns.clear();
  if (const auto* function = binding.value->as<Function>()) {
    // A local function may call itself.
    if (binding.isLet())
      fresh(*binding.var);
    frame.function = functionHead(*function);
  }
  openPart(frame);
}

/// The `index`-th block right inside a value, or null when there are not so many.
static const Block* partOf(const Expr& value, size_t index) {
  const Block* part = nullptr;
  forEachBlock(value, [&](const Block& block) {
    if (index-- == 0)
      part = &block;
  });
  return part;
}

void Rewriter::openPart(Frame& frame) {
  const Expr& value = *frame.binding->value;
  const auto* match = value.as<Match>();
  const Block* part =
      match ? (frame.parts.size() < match->arms.size() ? match->arms[frame.parts.size()].body
                                                       : nullptr)
            : partOf(value, frame.parts.size());
  if (!part)
    return finishBinding(frame, copyValue(frame));
  if (match)
    frame.patterns.push_back(pattern(*match->arms[frame.parts.size()].pattern));
  open(*part);
}

void Rewriter::receive(const Block* part) {
  Frame& frame = frames_.back();
  frame.parts.push_back(part);
  openPart(frame);
}

void Rewriter::finishBinding(Frame& frame, const Expr* value) {
  const Binding& old = *frame.binding;
  make.range = old.value->range;
  known(*old.var) = bind(old, value, *frame.out);
}

Atom Rewriter::bind(const Binding& old, const Expr* value, BlockBuilder& out) {
  const Var* var = fresh(*old.var);
  out.append({var, value, old.place});
  return var;
}

// Functions.

Function* Rewriter::functionHead(const Function& old) {
  auto* head =
      make.arena.make<Function>(Expr{ExprKind::Function, old.range}, make.module.functionCount++);
  head->generics = generics(declaredGenerics(old));
  std::vector<const Var*> parameters;
  for (const Var* parameter : parametersOf(old)) {
    known(*parameter) = nullptr;
    parameters.push_back(fresh(*parameter));
  }
  head->parameters = make.arena.copy(parameters);
  head->resultAnnotation = types_(declaredResult(old));
  make.coverUnknowns(head->resultAnnotation);
  head->attributes = named(old.attributes);
  return head;
}

Function* Rewriter::function(const Function& old) {
  Function* head = functionHead(old);
  head->body = block(*old.body);
  return head;
}

// Values.

std::span<const Operand> Rewriter::operands(std::span<const Operand> old) {
  if (old.empty())
    return {};
  size_t bytes = old.size() * sizeof(Operand);
  auto* list = static_cast<Operand*>(make.arena.allocate(bytes, alignof(Operand)));
  for (size_t i = 0; i < old.size(); ++i)
    ::new (list + i) Operand(operand(old[i]));
  return {list, old.size()};
}

const Expr* Rewriter::copyValue(Frame& frame) {
  const Expr& old = *frame.binding->value;
  Arena& arena = make.arena;
  Expr base{old.kind, old.range};
  return match(
      old, [&](const Expr& leaf) -> const Expr* { return atom(leaf); },
      [&](const TupleExpr& tuple) -> const Expr* {
        return arena.make<TupleExpr>(base, operands(tuple.fields));
      },
      [&](const Project& project) -> const Expr* {
        return arena.make<Project>(base, operand(project.tuple), project.index, project.field);
      },
      [&](const Call& call) -> const Expr* {
        return arena.make<Call>(base, operand(call.callee), operands(call.arguments),
                                attributes(call.attributes), named(call.named));
      },
      [&](const If& branch) -> const Expr* {
        return arena.make<If>(base, operand(branch.condition), frame.parts[0], frame.parts[1]);
      },
      [&](const Match& match) -> const Expr* {
        std::vector<Arm> arms;
        for (size_t i = 0; i < match.arms.size(); ++i)
          arms.push_back({frame.patterns[i], frame.parts[i], match.arms[i].range});
        return arena.make<Match>(base, operand(match.scrutinee), match.isPartial, arena.copy(arms));
      },
      [&](const Function&) -> const Expr* {
        frame.function->body = frame.parts[0];
        return frame.function;
      },
      [&](const RefNew& ref) -> const Expr* {
        return arena.make<RefNew>(base, operand(ref.content));
      },
      [&](const RefRead& ref) -> const Expr* {
        return arena.make<RefRead>(base, operand(ref.reference));
      },
      [&](const RefWrite& ref) -> const Expr* {
        return arena.make<RefWrite>(base, operand(ref.reference), operand(ref.value));
      },
      [&](const BlockExpr&) -> const Expr* { return arena.make<BlockExpr>(base, frame.parts[0]); });
}

Var* Rewriter::fresh(const Var& old) {
  // Of a local function, made before its body.
  if (Atom made = known(old))
    return const_cast<Var*>(static_cast<const Var*>(made));
  Var* var = make.arena.make<Var>(Expr{ExprKind::Var, old.range}, make.arena.copyText(old.name),
                                  old.origin, make.module.varCount++);
  var->annotation = types_(declared(old));
  make.coverUnknowns(var->annotation);
  if (old.device)
    var->device = make.arena.make<AttributeValue>(attribute(*old.device));
  known(old) = var;
  return var;
}

const Pattern* Rewriter::pattern(const Pattern& root) {
  Pattern* copy = make.arena.make<Pattern>(root);
  if (root.var) {
    known(*root.var) = nullptr;
    copy->var = fresh(*root.var);
  }
  if (root.constructor)
    copy->constructor = static_cast<const Constructor*>(atom(*root.constructor));
  std::vector<const Pattern*> parts;
  for (const Pattern* part : root.parts)
    parts.push_back(pattern(*part));
  copy->parts = make.arena.copy(parts);
  return copy;
}

// Atoms.

Atom Rewriter::atom(const Expr& old) {
  switch (old.kind) {
  case ExprKind::Var: {
    const auto& var = static_cast<const Var&>(old);
    Atom copy = known(var);
    if (!copy && !staysInModule())
      throw std::logic_error(fmt::format("variable number {} has no copy", var.number));
    return copy ? copy : &old;
  }
  case ExprKind::Constant:
    return constant(static_cast<const Constant&>(old));
  case ExprKind::Global:
    return global(static_cast<const Global&>(old));
  case ExprKind::Constructor: {
    const auto& constructor = static_cast<const Constructor&>(old);
    if (!constructor.definition)
      return &old;
    const TypeDefinition* owner = definition(constructor.definition);
    fillDefinitions();
    return owner->constructors[constructor.index];
  }
  default:
    break;
  }
  if (staysInModule())
    return &old;
  if (const auto* hole = old.as<Hole>())
    return make.arena.make<Hole>(Expr{ExprKind::Hole, hole->range});
  return make.arena.make<OperatorRef>(Expr{ExprKind::Operator, old.range},
                                      static_cast<const OperatorRef&>(old).row);
}

const Constant* Rewriter::constant(const Constant& old) {
  if (staysInModule())
    return &old;
  const runtime::Tensor* tensor = nullptr;
  if (old.tensor) {
    // The printer gives each tensor constant an object of its own, so one stays one.
    if (auto known = constants_.find(&old); known != constants_.end())
      return known->second;
    auto [known, isNew] = tensors_.try_emplace(old.tensor);
    if (isNew)
      known->second = &make.module.tensors.emplace_back(*old.tensor);
    tensor = known->second;
  }
  const auto* copy =
      make.arena.make<Constant>(Expr{ExprKind::Constant, old.range}, old.type, old.bits, tensor);
  if (tensor)
    constants_[&old] = copy;
  return copy;
}

AttributeValue Rewriter::attribute(const AttributeValue& old) {
  AttributeValue copy = old;
  copy.text = make.arena.copyText(old.text);
  if (old.expr)
    copy.expr = atom(*old.expr);
  if (auto found = metadata_.find(old.meta); found != metadata_.end())
    copy.meta = found->second;
  std::vector<AttributeValue> items;
  for (const AttributeValue& item : old.items)
    items.push_back(attribute(item));
  copy.items = make.arena.copy(items);
  return copy;
}

const Attributes* Rewriter::attributes(const Attributes* old) {
  if (!old)
    return nullptr;
  std::vector<AttributeValue> values;
  for (const AttributeValue& value : old->values)
    values.push_back(attribute(value));
  return make.arena.make<Attributes>(old->rows, make.arena.copy(values));
}

std::span<const NamedAttribute> Rewriter::named(std::span<const NamedAttribute> old) {
  std::vector<NamedAttribute> list;
  for (const NamedAttribute& each : old)
    list.push_back({make.arena.copyText(each.name), attribute(each.value)});
  return make.arena.copy(list);
}

// Definitions.

const Global* Rewriter::global(const Global& old) {
  if (staysInModule())
    return &old;
  auto [known, isNew] = globals_.try_emplace(&old);
  // One that is only mentioned has no function and no place in the module's list.
  if (isNew)
    known->second = make.arena.make<Global>(Expr{ExprKind::Global, old.range},
                                            make.arena.copyText(old.name), old.number);
  return known->second;
}

const TypeParameter* Rewriter::parameter(const TypeParameter* old) {
  auto known = parameters_.find(old);
  if (known != parameters_.end())
    return known->second;
  if (staysInModule())
    return old;
  return parameters_[old] =
             make.arena.make<TypeParameter>(make.arena.copyText(old->name), old->kind);
}

std::span<const TypeParameter* const>
Rewriter::generics(std::span<const TypeParameter* const> old) {
  if (old.empty())
    return {};
  // A second copy of the same function has parameters of its own.
  types_.forget();
  std::vector<const TypeParameter*> list;
  for (const TypeParameter* each : old) {
    list.push_back(make.arena.make<TypeParameter>(make.arena.copyText(each->name), each->kind));
    parameters_[each] = list.back();
  }
  return make.arena.copy(list);
}

const TypeDefinition* Rewriter::definition(const TypeDefinition* old) {
  if (staysInModule() || old == &storageDefinition)
    return old;
  auto [made, isNew] = definitions_.try_emplace(old);
  if (isNew) {
    made->second = make.arena.make<TypeDefinition>(make.arena.copyText(old->name), old->range);
    made->second->isExtern = old->isExtern;
    unfilled_.push_back(old);
  }
  return made->second;
}

/// Fields mention other definitions, which then wait for theirs: a list, since chains may be long.
void Rewriter::fillDefinitions() {
  Arena& arena = make.arena;
  while (!unfilled_.empty()) {
    const TypeDefinition* old = unfilled_.back();
    unfilled_.pop_back();
    TypeDefinition* copy = definitions_[old];
    std::vector<const TypeParameter*> generics;
    for (const TypeParameter* each : old->generics)
      generics.push_back(parameter(each));
    copy->generics = arena.copy(generics);
    std::vector<const Constructor*> constructors;
    for (const Constructor* each : old->constructors) {
      std::vector<const Type*> fields;
      for (const Type* field : each->fields)
        fields.push_back(types_(field));
      std::vector<std::string_view> names;
      for (std::string_view name : each->fieldNames)
        names.push_back(arena.copyText(name));
      constructors.push_back(arena.make<Constructor>(Expr{ExprKind::Constructor, each->range},
                                                     arena.copyText(each->name), arena.copy(fields),
                                                     copy, each->index, arena.copy(names)));
    }
    copy->constructors = arena.copy(constructors);
  }
}

void Rewriter::copyDefinitions() {
  Module& into = make.module;
  for (const TypeDefinition* each : from_.typeDefinitions)
    into.typeDefinitions.push_back(definition(each));
  fillDefinitions();
  for (size_t i = 0; i < from_.globals.size(); ++i) {
    const Global& old = *from_.globals[i];
    if (!keeps(old)) {
      into.preludeGlobals -= i < from_.preludeGlobals;
      continue;
    }
    Global* copy = make.declare(old.name);
    copy->range = old.range;
    globals_[&old] = copy;
  }
}

/// The tables are copied whole; only the objects are given new addresses.
void Rewriter::copyMetadata() {
  make.module.metadata = from_.metadata;
  for (size_t i = 0; i < from_.metadata.nodes.size(); ++i)
    metadata_[&from_.metadata.nodes[i]] = &make.module.metadata.nodes[i];
}

void Rewriter::module() {
  Module& into = make.module;
  into.form = from_.form;
  into.preludeTypes = from_.preludeTypes;
  into.preludeGlobals = from_.preludeGlobals;
  into.unknownCount = from_.unknownCount;
  into.unknownDimCount = from_.unknownDimCount;
  copyMetadata();
  copyDefinitions();
  for (const Global* old : from_.globals)
    if (auto copy = globals_.find(old); copy != globals_.end() && old->function)
      copy->second->function = function(*old->function);
}

} // namespace lang
