// Where a function begins: its parameters, and what its closure captured.
#include "vm/bytecode/function_compiler.h"
#include "vm/bytecode/block_compiler.h"

#include <algorithm>

namespace bytecode {

using namespace lang;

namespace {

class FunctionCompiler {
public:
  FunctionCompiler(Instances& instances, const Instance& instance) : parts_(instances, instance) {}
  void compile();

private:
  void begin();
  std::optional<uint16_t> beginCaptures();
  void checkParameters(std::optional<uint16_t> outer);

  Parts parts_;
  FunctionState& state_ = parts_.state;
  Holding& holding_ = parts_.holding;
  BlockCompiler blocks_{parts_};
  /// The sizes of named dimensions that the closure took with it.
  const Var* outerSizes_ = nullptr;
};

void FunctionCompiler::compile() {
  begin();
  Scope scope{.block = *state_.function.body, .isTail = true};
  blocks_.block(scope);
  vm::Program& program = state_.made.program;
  vm::Function& made = program.functions[state_.instance.number];
  made.start = uint32_t(program.code.size());
  made.registers = uint16_t(state_.registers.most());
  state_.code.finish(program);
  made.size = uint32_t(program.code.size()) - made.start;
}

/// Parameters are in the first registers; those that nothing uses are given up at once.
void FunctionCompiler::begin() {
  vm::Function made;
  made.name = state_.instance.global ? "@" + std::string(state_.instance.global->name)
              : state_.instance.self && !state_.instance.self->name.empty()
                  ? "%" + std::string(state_.instance.self->name)
                  : "fn";
  made.range = state_.function.range;
  for (size_t i = 0; i < state_.function.parameters.size(); ++i) {
    const Var& parameter = *state_.function.parameters[i];
    Rep rep = state_.rep(state_.typeOf(parameter));
    bool isBorrowed =
        !state_.instance.isClosure && !state_.instances.ownedParameters(*state_.instance.global)[i];
    if (!rep.isScalar() && isBorrowed)
      rep.hold = Hold::Borrowed;
    uint16_t reg = state_.registers.take();
    holding_.hold(parameter, rep, reg, 0);
    made.parameters.push_back(rep);
  }
  const Type* result = state_.instances.typing.result(state_.function);
  made.result = state_.rep(result);
  if (state_.isFlat())
    for (const Type* part : result->parts)
      made.flat.push_back(state_.rep(part));
  made.isClosure = state_.instance.isClosure;
  state_.made.program.functions[state_.instance.number] = std::move(made);
  state_.origin(state_.function.range);
  std::optional<uint16_t> outer;
  if (state_.instance.isClosure)
    outer = beginCaptures();
  checkParameters(outer);
  for (const Var* parameter : state_.function.parameters)
    if (!state_.usage.last(*state_.function.body, *parameter))
      holding_.giveUp(*parameter);
}

/// Takes what the closure captured out of its object, which lies behind the arguments. The register
/// of the sizes that it took with it, if any.
std::optional<uint16_t> FunctionCompiler::beginCaptures() {
  uint16_t object = state_.registers.take();
  const auto& captures = state_.instances.freeVariables[state_.function.number];
  bool usesSelf =
      state_.instance.self && std::ranges::find(captures, state_.instance.self) != captures.end();
  const Var& own = usesSelf ? *state_.instance.self : state_.hiddenVar(nullptr);
  holding_.hold(own, reference, object, 0).layout = state_.instance.closureLayout;
  const std::vector<Rep>& fields =
      state_.made.program.layouts[state_.instance.closureLayout].fields;
  std::vector<uint16_t> loaded(fields.size(), vm::none);
  std::optional<uint16_t> outer;
  size_t field = 0;
  for (const Var* var : captures)
    if (var != state_.instance.self || !usesSelf) {
      loaded[field] = state_.registers.take();
      holding_.holdField(*var, fields[field], loaded[field], own, field, 0);
      ++field;
    }
  if (field < fields.size()) {
    outer = loaded[field] = state_.registers.take();
    outerSizes_ = &state_.hiddenVar(nullptr);
    holding_.holdField(*outerSizes_, fields[field], *outer, own, field, 0);
  }
  if (!loaded.empty())
    state_.code.emitFields(Op::Fields, object, state_.instance.closureLayout, 0, loaded);
  if (!usesSelf)
    holding_.giveUp(own);
  return outer;
}

void FunctionCompiler::checkParameters(std::optional<uint16_t> outer) {
  if (!state_.checks)
    return;
  std::vector<uint16_t> operands;
  std::vector<Rep> reps;
  for (const Var* parameter : state_.function.parameters) {
    operands.push_back(holding_.held(*parameter).reg);
    reps.push_back(holding_.held(*parameter).rep);
  }
  if (outer) {
    operands.push_back(*outer);
    reps.push_back(reference);
  }
  vm::HostSite site{.kind = SiteKind::Arguments,
                    .range = state_.function.range,
                    .check = state_.made.checks->function(state_.function),
                    .hasOuterSizes = outer.has_value()};
  state_.sizes = state_.hostCall(std::move(site), operands, std::move(reps), reference);
  if (outerSizes_)
    holding_.giveUp(*outerSizes_);
}

} // namespace

void compileFunction(Instances& instances, const Instance& instance) {
  if (instance.function)
    FunctionCompiler(instances, instance).compile();
  else
    compileWrapper(instances, instance);
}

} // namespace bytecode
