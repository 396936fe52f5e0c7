// Functions, blocks and branches. Recursion follows the nesting of blocks, which the reader bounds.
#include "vm/bytecode/function_compiler.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

namespace {

/// Blocks of more bindings than this may be too long for short jumps.
constexpr size_t mostNearBindings = 1500;

} // namespace

FunctionCompiler::FunctionCompiler(Instances& instances, const Instance& instance)
    : instances_(instances), made_(instances.made), instance_(instance),
      environment_(instance.environment), function_(*instance.function),
      checks_(made_.boundaries->of(function_)),
      usage_(function_, itself(), instances.freeVariables),
      code_(usage_.bindings() > mostNearBindings) {}

void FunctionCompiler::compile() {
  begin();
  Scope scope{.block = *function_.body, .isTail = true};
  block(scope);
  vm::Function& made = made_.program.functions[instance_.number];
  made.start = uint32_t(made_.program.code.size());
  made.registers = uint16_t(registers_.most());
  code_.finish(made_.program);
  made.size = uint32_t(made_.program.code.size()) - made.start;
}

/// Parameters are in the first registers; those that nothing uses are given up at once.
void FunctionCompiler::begin() {
  vm::Function made;
  made.name = instance_.global ? "@" + std::string(instance_.global->name)
              : instance_.self && !instance_.self->name.empty()
                  ? "%" + std::string(instance_.self->name)
                  : "fn";
  made.range = function_.range;
  for (size_t i = 0; i < function_.parameters.size(); ++i) {
    const Var& parameter = *function_.parameters[i];
    Rep rep = this->rep(typeOf(parameter));
    bool isBorrowed = !instance_.isClosure && !instances_.ownedParameters(*instance_.global)[i];
    if (!rep.isScalar() && isBorrowed)
      rep.hold = Hold::Borrowed;
    uint16_t reg = registers_.take();
    hold(parameter, rep, reg, 0);
    made.parameters.push_back(rep);
  }
  const Type* result = instances_.typing.result(function_);
  made.result = rep(result);
  if (isFlat())
    for (const Type* part : result->parts)
      made.flat.push_back(rep(part));
  made.isClosure = instance_.isClosure;
  made_.program.functions[instance_.number] = std::move(made);
  origin(function_.range);
  std::optional<uint16_t> outer;
  if (instance_.isClosure)
    outer = beginCaptures();
  checkParameters(outer);
  for (const Var* parameter : function_.parameters)
    if (!usage_.last(*function_.body, *parameter))
      giveUp(*parameter);
}

/// Takes what the closure captured out of its object, which lies behind the arguments. The register
/// of the sizes that it took with it, if any.
std::optional<uint16_t> FunctionCompiler::beginCaptures() {
  uint16_t object = registers_.take();
  const auto& captures = instances_.freeVariables[function_.number];
  bool usesSelf = instance_.self && std::ranges::find(captures, instance_.self) != captures.end();
  const Var& own = usesSelf ? *instance_.self : hiddenVar(nullptr);
  hold(own, reference, object, 0).layout = instance_.closureLayout;
  const std::vector<Rep>& fields = made_.program.layouts[instance_.closureLayout].fields;
  std::vector<uint16_t> loaded(fields.size(), vm::none);
  std::optional<uint16_t> outer;
  size_t field = 0;
  for (const Var* var : captures)
    if (var != instance_.self || !usesSelf) {
      loaded[field] = registers_.take();
      holdField(*var, fields[field], loaded[field], own, field, 0);
      ++field;
    }
  if (field < fields.size()) {
    outer = loaded[field] = registers_.take();
    outerSizes_ = &hiddenVar(nullptr);
    holdField(*outerSizes_, fields[field], *outer, own, field, 0);
  }
  if (!loaded.empty())
    code_.emitFields(Op::Fields, object, instance_.closureLayout, 0, loaded);
  if (!usesSelf)
    giveUp(own);
  return outer;
}

void FunctionCompiler::checkParameters(std::optional<uint16_t> outer) {
  if (!checks_)
    return;
  std::vector<uint16_t> operands;
  std::vector<Rep> reps;
  for (const Var* parameter : function_.parameters) {
    operands.push_back(held(*parameter).reg);
    reps.push_back(held(*parameter).rep);
  }
  if (outer) {
    operands.push_back(*outer);
    reps.push_back(reference);
  }
  vm::HostSite site{.kind = SiteKind::Arguments,
                    .range = function_.range,
                    .check = made_.checks->function(function_),
                    .hasOuterSizes = outer.has_value()};
  sizes_ = hostCall(std::move(site), operands, std::move(reps), reference);
  if (outerSizes_)
    giveUp(*outerSizes_);
}

void FunctionCompiler::origin(SourceRange range, const OperatorRow* row, const Call* call) {
  std::vector<vm::Origin>& origins = made_.program.origins;
  code_.comesFrom(uint32_t(origins.size()));
  const Global* callee = call ? call->callee.value->as<Global>() : nullptr;
  bool isCompared = callee && callee->function && made_.boundaries->of(*callee->function);
  origins.push_back({range, row ? operatorNumber(*row) : checks::none,
                     isCompared ? caller(*call) : checks::none});
}

/// The number of an operator's name in the program.
uint32_t FunctionCompiler::operatorNumber(const OperatorRow& row) {
  std::vector<std::string>& names = made_.program.operators;
  auto [found, isNew] = made_.operators.try_emplace(&row, uint32_t(names.size()));
  if (isNew)
    names.emplace_back(row.name);
  return found->second;
}

/// The number of a call in the program.
uint32_t FunctionCompiler::caller(const Call& call) {
  const auto* callee = call.callee.value->as<Global>();
  uint32_t check = callee ? made_.checks->function(*callee->function) : checks::none;
  made_.program.callers.push_back({calledFrom(call), check});
  return uint32_t(made_.program.callers.size() - 1);
}

void FunctionCompiler::block(Scope& scope) {
  std::span<const Binding> bindings = scope.block.bindings;
  for (scope.at = 0; scope.at < bindings.size(); ++scope.at) {
    const Binding& binding = bindings[scope.at];
    bool isLast = scope.at + 1 == bindings.size() && scope.block.result.value == binding.var &&
                  !made_.boundaries->typeOf(*binding.var);
    if (isFused(scope, binding) || takenApart_.contains(&binding))
      continue;
    if (callWrapped(scope))
      return;
    origin(binding.value->range);
    if (const auto* tuple = binding.value->as<TupleExpr>();
        tuple && isLast && scope.isTail && isFlat())
      return returnTuple(scope, *tuple);
    reserve(scope);
    value(scope, binding, isLast);
    if (isLast && scope.isTail && !find(*binding.var))
      return;
    takeApart(scope, *binding.var);
  }
  finishBlock(scope);
}

void FunctionCompiler::finishBlock(Scope& scope) {
  const Operand& result = scope.block.result;
  if (scope.isTail)
    return returnValue(scope, result);
  uint16_t reg = take(scope, result, scope.wanted, environment_, false);
  if (reg != scope.target)
    code_.emit(Op::Move, scope.target, reg);
  const auto* var = result.value->as<Var>();
  if (var && diesAt(scope, *var))
    giveUp(*var);
  freeTemporaries();
}

void FunctionCompiler::returnValue(Scope& scope, const Operand& result) {
  const Type* type = instances_.typing.result(function_);
  uint16_t reg = take(scope, result, type, environment_, false);
  if (checks_ && checks_->result) {
    origin(result.range);
    vm::HostSite site{.kind = SiteKind::Result,
                      .range = result.range,
                      .check = made_.checks->function(function_)};
    std::vector<uint16_t> operands{reg, *sizes_};
    hostCall(std::move(site), operands, {rep(type), reference}, std::nullopt);
  }
  const auto* var = result.value->as<Var>();
  if (var && diesAt(scope, *var))
    giveUp(*var);
  if (sizes_)
    code_.emit(Op::Release, *sizes_);
  code_.emitReturn(reg);
  freeTemporaries();
}

/// Whether the binding is a comparison of scalars that only the branch right behind it uses: then
/// that compares.
bool FunctionCompiler::isFused(const Scope& scope, const Binding& binding) {
  std::span<const Binding> bindings = scope.block.bindings;
  if (scope.at + 1 >= bindings.size() || usage_.count(*binding.var) != 1 ||
      made_.boundaries->typeOf(*binding.var))
    return false;
  const auto* branch = bindings[scope.at + 1].value->as<If>();
  return branch && branch->condition.value == binding.var && comparison(binding);
}

void FunctionCompiler::branch(Scope& scope, const Binding& binding, const If& value, bool isLast) {
  Label otherwise = code_.newLabel(), end = code_.newLabel();
  // Where a recursion goes on is the likelier way, and staying on it is cheaper than a jump.
  bool isThenFirst = usage_.calls(*value.thenBlock) || !usage_.calls(*value.elseBlock);
  const Block *first = value.thenBlock, *second = value.elseBlock;
  if (!jumpUnless(scope, value, isThenFirst, otherwise))
    std::swap(first, second);
  uint16_t target = targetFor(scope, isLast);
  const auto before = snapshot();
  inner(scope, binding, *first, isLast, target);
  if (!(isLast && scope.isTail))
    code_.jump(end);
  restore(before);
  code_.place(otherwise);
  inner(scope, binding, *second, isLast, target);
  code_.place(end);
  afterBranches(scope, binding, isLast, target);
}

/// Goes to `otherwise` unless the condition is as it should be; gives what that is, which is True
/// where a comparison cannot be turned round.
bool FunctionCompiler::jumpUnless(Scope& scope, const If& value, bool holds, Label otherwise) {
  const auto* var = value.condition.value->as<Var>();
  if (var && !find(*var)) {
    const Binding& compared = scope.block.bindings[scope.at - 1];
    Comparison comparison = *this->comparison(compared);
    auto opposite = holds ? std::nullopt : oppositeOf(comparison);
    if (opposite)
      comparison.function = *opposite;
    std::span<const Operand> operands = compared.value->as<Call>()->arguments;
    origin(compared.value->range);
    ScalarOperand left = scalarOperand(operands[comparison.left]),
                  right = scalarOperand(operands[comparison.right]);
    if (!jumpUnlessHolds(code_, comparison, left, right, otherwise))
      jumpUnlessHolds(code_, comparison, inRegister(left), inRegister(right), otherwise);
    freeTemporaries();
    return !opposite;
  }
  uint16_t reg = look(value.condition);
  if (made_.layouts.boxesScalars) {
    vm::HostSite site{.kind = SiteKind::Unbox, .range = value.condition.range};
    uint16_t operand = reg;
    reg = hostCall(std::move(site), {&operand, 1}, {reference}, Rep{Hold::Scalar, runtime::Bool});
    temporaries_.push_back(reg);
  }
  code_.jumpUnless(reg, holds, otherwise);
  freeTemporaries();
  return holds;
}

void FunctionCompiler::restore(const Snapshot& snapshot) {
  held_ = snapshot.held;
  registers_.used = snapshot.used;
  registers_.firstFree = snapshot.firstFree;
  memory_ = snapshot.memory;
  hiddenHeld_ = snapshot.hidden;
}

/// The register for the result of branches; none in a tail.
uint16_t FunctionCompiler::targetFor(Scope& scope, bool isLast) {
  if (isLast && scope.isTail)
    return vm::none;
  return isLast ? scope.target : registers_.take();
}

void FunctionCompiler::afterBranches(Scope& scope, const Binding& binding, bool isLast,
                                     uint16_t target) {
  if (!(isLast && scope.isTail)) {
    registers_.take(target);
    define(scope, binding, rep(typeOf(*binding.var)), target);
  }
}

void FunctionCompiler::inner(Scope& scope, const Binding& binding, const Block& inside, bool isLast,
                             uint16_t target) {
  Scope own{.block = inside,
            .level = scope.level + 1,
            .isTail = isLast && scope.isTail,
            .target = target,
            .wanted = typeOf(*binding.var)};
  enterBranch(scope, own);
  block(own);
}

/// Variables that may be held and that the binding of branches uses last in its block, or the one
/// before it: a comparison that the branch does itself used its operands where it stands. They are
/// found among those that are held or among the uses in the branches, of which nests have many,
/// whichever are fewer.
std::vector<const Var*> FunctionCompiler::dyingWithBranches(const Scope& outer) const {
  size_t first = outer.at > 0 ? outer.at - 1 : 0;
  size_t most = usage_.usesIn(outer.block, first, outer.at);
  std::vector<const Var*> dying;
  const Held* each = held_.from(0);
  for (size_t i = 0; each && i < most; ++i, each = held_.from(each->var->number + size_t(1)))
    if (auto last = usage_.last(outer.block, *each->var); last && *last >= first)
      dying.push_back(each->var);
  if (!each)
    return dying;
  dying = usage_.dyingAt(outer.block, outer.at);
  if (first < outer.at)
    std::ranges::copy(usage_.dyingAt(outer.block, first), std::back_inserter(dying));
  return dying;
}

/// What is not needed after the branches is the branch's to give up: at once, unless it uses it.
void FunctionCompiler::enterBranch(Scope& outer, Scope& own) {
  std::vector<const Var*> dying = dyingWithBranches(outer);
  std::erase_if(hiddenHeld_, [&](const Var* var) { return !find(*var); });
  std::ranges::copy(hiddenHeld_, std::back_inserter(dying));
  std::erase_if(dying, [&](const Var* var) {
    const Held* each = find(*var);
    return !each || each->isOver || !diesAt(outer, *var);
  });
  std::ranges::sort(dying, {}, &Var::number);
  for (const Var* var : dying)
    if (usage_.last(own.block, *var))
      held(*var).level = own.level;
  for (const Var* var : dying)
    if (!usage_.last(own.block, *var))
      giveUp(*var, tokenFor(own, *var));
  for (size_t i = 0; i < memory_.size();) {
    ReusableMemory& memory = memory_[i];
    if (memory.block != &outer.block || memory.binding != outer.at) {
      ++i;
    } else if (auto used = unclaimedConstruction(own.block, memory.fields)) {
      memory.block = &own.block;
      memory.binding = *used;
      ++i;
    } else {
      code_.emit(Op::FreeToken, memory.reg);
      registers_.free(memory.reg);
      memory_.erase(memory_.begin() + ptrdiff_t(i));
    }
  }
}

/// The binding of a block that makes an object of so many fields, and has no memory for it yet.
std::optional<size_t> FunctionCompiler::unclaimedConstruction(const Block& block, size_t fields) {
  for (size_t at = 0; true; ++at) {
    at = constructions_.find(block, at, fields);
    if (at == block.bindings.size())
      return std::nullopt;
    bool isClaimed = std::ranges::any_of(memory_, [&](const ReusableMemory& memory) {
      return memory.block == &block && memory.binding == at;
    });
    if (!isClaimed)
      return at;
  }
}

/// The binding behind those that compute arguments.
const Binding& FunctionCompiler::upcomingCall(const Scope& scope) const {
  constexpr size_t mostArguments = 8;
  std::span<const Binding> bindings = scope.block.bindings;
  size_t at = scope.at, end = std::min(at + mostArguments, bindings.size() - 1);
  while (at < end && usage_.argument(*bindings[at].var) && !isFunctionCall(*bindings[at].value))
    ++at;
  return bindings[at];
}

/// Takes memory for an object before a call that makes a part of it: so what is traversed from the
/// top lies in memory in that order.
void FunctionCompiler::reserve(const Scope& scope) {
  const Binding& binding = upcomingCall(scope);
  const Usage::Construction* made = usage_.construction(*binding.var);
  auto at = size_t(&binding - scope.block.bindings.data());
  bool isReturned =
      scope.isTail && isFlat() && made && made->binding + 1 == scope.block.bindings.size();
  if (!made || isReturned || (scope.isTail && isWrappedCall(scope.block, at, itself())) ||
      made->block != &scope.block || !isFunctionCall(*binding.value) ||
      rep(typeOf(*binding.var)).isScalar())
    return;
  auto isClaimed = [&](const ReusableMemory& memory) {
    return memory.block == made->block && memory.binding == made->binding;
  };
  if (std::ranges::any_of(memory_, isClaimed))
    return;
  uint16_t layout = layoutMade(scope.block.bindings[made->binding]), reg = registers_.take();
  code_.emit(Op::Reserve, reg, layout);
  size_t fields = made_.program.layouts[layout].fields.size();
  memory_.push_back({reg, fields, made->block, made->binding});
}

/// The register for the memory of an object that is given up where a block begins, its own, if the
/// block makes one of as many fields.
std::optional<uint16_t> FunctionCompiler::tokenFor(const Scope& scope, const Var& var) {
  const Held& gone = held(var);
  if (gone.rep.hold != Hold::Owned || gone.layout == vm::none)
    return std::nullopt;
  size_t fields = made_.program.layouts[gone.layout].fields.size();
  auto used = fields > 0 ? unclaimedConstruction(scope.block, fields) : std::nullopt;
  if (!used)
    return std::nullopt;
  memory_.push_back({gone.reg, fields, &scope.block, *used});
  return gone.reg;
}

const Var& FunctionCompiler::hiddenVar(const Type* type) {
  Var& var = hidden_.emplace_back();
  var.kind = ExprKind::Var;
  var.origin = VarOrigin::Temporary;
  var.number = instances_.module.varCount + uint32_t(hidden_.size());
  var.annotation = type;
  return var;
}

void compileFunction(Instances& instances, const Instance& instance) {
  if (instance.function)
    FunctionCompiler(instances, instance).compile();
  else
    compileWrapper(instances, instance);
}

} // namespace bytecode
