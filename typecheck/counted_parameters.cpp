// From what counts back to what it is computed from. A recursive call goes to the same instance, so
// what is known of its parameter has to hold there too.
#include "typecheck/counted_parameters.h"

#include "lang/ir/open_marks.h"
#include "lang/ir/walk.h"

#include <unordered_map>
#include <unordered_set>

namespace typecheck {

using namespace lang;

namespace {

class Counted {
public:
  Counted(const Global& global, const OperatorTable& operators)
      : function_(*global.function), operators_(operators) {
    for (std::string_view infix : {"+", "-", "*", "/"})
      arithmetic_.insert(operators.findInfix(infix));
    arithmetic_.insert(&operators.withRole(Role::FloorDivide));
  }

  void collect(const Global& self,
               const std::function<const std::vector<bool>&(const Global&)>& counted) {
    size_t mentions = 0, calls = 0;
    walk(
        *function_.body,
        [&](const Binding& binding) {
          values_[binding.var] = binding.value;
          const auto* call = binding.value->as<Call>();
          if (!call)
            return;
          const auto* callee = call->callee.value->as<Global>();
          calls += callee == &self;
          if (callee == &self)
            selfCalls_.push_back(call);
          else if (callee)
            addArguments(*call, counted(*callee));
          addCounts(*call);
        },
        [&](const Operand& operand) { mentions += operand.value == &self; });
    isValue_ = mentions > calls;
  }

  std::vector<bool> parameters() {
    std::unordered_set<const Expr*> met;
    while (!open_.empty()) {
      const Expr* expr = open_.back();
      open_.pop_back();
      if (met.insert(expr).second)
        follow(*expr);
    }
    std::vector<bool> result;
    for (size_t i = 0; i < function_.parameters.size(); ++i)
      result.push_back(!isValue_ && met.contains(function_.parameters[i]) && staysItself(i));
    return result;
  }

private:
  void addArguments(const Call& call, const std::vector<bool>& counted) {
    for (size_t i = 0; i < call.arguments.size() && i < counted.size(); ++i)
      if (counted[i])
        open_.push_back(call.arguments[i].value);
  }

  /// Counts, and what stands in place of an attribute of the operator with a shape that is fixed;
  /// of an operator without one each operand may be a size.
  void addCounts(const Call& call) {
    size_t first = call.arguments.size() - attributeMarksOf(call).size();
    if (isCountMark(call)) {
      first = 0;
    } else if (isComputedMark(call)) {
      const OperatorRow& row = *call.callee.value->as<OperatorRef>()->row;
      const OperatorRow* fixed = operators_.find(row.fixed.name);
      first = fixed ? fixed->operands.size() : 0;
    }
    for (size_t i = first; i < call.arguments.size(); ++i)
      open_.push_back(call.arguments[i].value);
  }

  /// What an expression is computed from.
  void follow(const Expr& expr) {
    if (expr.as<Var>()) {
      auto value = values_.find(static_cast<const Var*>(&expr));
      if (value != values_.end())
        open_.push_back(value->second);
      return;
    }
    const auto* call = expr.as<Call>();
    const auto* op = call ? call->callee.value->as<OperatorRef>() : nullptr;
    bool isComputed = op && (arithmetic_.contains(op->row) || op->row->role == Role::Stack);
    if (isComputed || expr.as<TupleExpr>())
      forEachOperand(expr, [&](const Operand& operand) { open_.push_back(operand.value); });
  }

  bool staysItself(size_t parameter) const {
    return std::ranges::all_of(selfCalls_, [&](const Call* call) {
      return parameter < call->arguments.size() &&
             call->arguments[parameter].value == function_.parameters[parameter];
    });
  }

  const Function& function_;
  const OperatorTable& operators_;
  std::unordered_set<const OperatorRow*> arithmetic_;
  std::unordered_map<const Var*, const Expr*> values_;
  std::vector<const Expr*> open_;
  std::vector<const Call*> selfCalls_;
  bool isValue_ = false;
};

} // namespace

std::vector<bool>
countedParameters(const Global& global, const OperatorTable& operators,
                  const std::function<const std::vector<bool>&(const Global&)>& counted) {
  Counted found(global, operators);
  found.collect(global, counted);
  return found.parameters();
}

} // namespace typecheck
