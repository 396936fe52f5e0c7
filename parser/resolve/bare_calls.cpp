// Calls in Baton's notation. Parameters and attributes look the same at a call, so who is called
// decides what an argument is; `_` among the arguments makes a function of the call.
#include "lang/ir/open_marks.h"
#include "lang/op/attribute_schema.h"
#include "lang/op/op.h"
#include "lang/op/other_names.h"
#include "parser/resolve/bare_forms.h"
#include "parser/resolve/foreign_calls.h"
#include "parser/resolve/name_hints.h"
#include "parser/resolve/short_calls.h"
#include "parser/surface/foreign_words.h"

#include <algorithm>

namespace parser {

using lang::Message;
using lang::SourceRange;

namespace {

/// An argument as it is given: an expression, or the value that a pipe brings.
struct Given {
  surface::Identifier name;
  const surface::Expr* expr = nullptr;
  std::optional<Use> value;
  /// Whether the value is a list in brackets, which makes a tensor of a tuple.
  bool isStack = false;

  bool isNamed() const { return !name.text.empty(); }
  bool isPlaceholder() const { return !value && expr->kind == surface::ExprKind::Placeholder; }
  SourceRange range() const { return value ? value->range : expr->range; }
};

std::vector<Given> givenOf(const surface::Call& call) {
  std::vector<Given> given;
  for (const surface::Expr* argument : call.arguments)
    given.push_back({{}, argument, {}});
  for (const surface::Attribute& argument : call.attributes)
    given.push_back({argument.key, argument.value.expr, {}});
  return given;
}

class BareCall {
public:
  BareCall(ResolveContext& context, SourceRange range, std::vector<Given> given)
      : context_(context), range_(range), given_(std::move(given)) {}

  /// Calls a callee that names say.
  Use named(const lang::Expr* callee, SourceRange calleeRange) {
    openPlaceholders();
    if (const auto* op = callee->as<lang::OperatorRef>())
      return closePlaceholders(ofOperator(*op, calleeRange));
    std::vector<std::string_view> names = parameterNames(*callee);
    return closePlaceholders(ofNames(callee, calleeRange, names));
  }

  /// A list, or what is printed; elements have no names.
  Use ofForm(BareForm form, SourceRange calleeRange) {
    PrintedArguments printed(context_);
    std::vector<Use> elements;
    for (const Given& each : given_) {
      if (each.isNamed())
        reportName(each, {}, false);
      const auto* text = each.value ? nullptr : surface::tryAs<surface::TextLiteral>(each.expr);
      if (text && form == BareForm::Print) {
        printed.text(*text);
        continue;
      }
      elements.push_back(use(each));
      printed.value(elements.back());
    }
    return form == BareForm::List ? buildList(context_, elements, range_, calleeRange)
                                  : printed.build(range_, calleeRange);
  }

  Use value(Use callee) {
    context_.bare.callsValues = true;
    openPlaceholders();
    std::vector<Use> operands;
    for (const Given& each : given_) {
      operands.push_back(use(each));
      if (each.isNamed())
        operands.back().range = lang::cover(each.name.range, operands.back().range);
    }
    operands.push_back(callee);
    Node* call = makeCall(operands);
    // A record may be meant, whose function has parameters of these names.
    for (const Given& each : given_)
      if (each.isNamed())
        mark(context_, *call, lang::argumentMark, each.name.text);
    return closePlaceholders(call);
  }

private:
  Use use(const Given& each) { return each.value ? *each.value : buildExpr(context_, each.expr); }

  Node* makeCall(const std::vector<Use>& operands) {
    Node* node = context_.makeNode(NodeKind::Call, range_);
    node->operands = context_.module.arena.copy(operands);
    return node;
  }

  Node* poison(SourceRange at) {
    auto* hole = context_.module.arena.make<lang::Hole>(lang::Expr{lang::ExprKind::Hole, at});
    return makeCall({Use{hole, nullptr, at}});
  }

  // Placeholders.

  /// Each becomes a parameter of the function that the call is then.
  void openPlaceholders() {
    for (Given& each : given_)
      if (each.isPlaceholder()) {
        const lang::Var* parameter =
            context_.makeVar("x", lang::VarOrigin::Parameter, each.expr->range, nullptr);
        parameters_.push_back(parameter);
        each.value = Use{parameter, nullptr, each.expr->range};
      }
  }

  /// What is no atom is evaluated before the function is made, once.
  Use closePlaceholders(Node* call) {
    if (parameters_.empty())
      return isSized_ ? bindSized(context_, call) : Use{nullptr, call, range_};
    runtime::Arena& arena = context_.module.arena;
    std::vector<LetItem> items;
    std::vector<Use> operands(call->operands.begin(), call->operands.end());
    for (Use& operand : operands)
      if (operand.node) {
        items.push_back(
            {context_.makeVar("given", lang::VarOrigin::Let, operand.range, nullptr), operand});
        operand = {items.back().var, nullptr, operand.range};
      }
    call->operands = arena.copy(operands);
    Use body = isSized_ ? bindSized(context_, call) : Use{nullptr, call, range_};
    Node* function = context_.makeNode(NodeKind::Function, range_);
    auto* head = arena.make<lang::Function>(lang::Expr{lang::ExprKind::Function, range_},
                                            context_.module.functionCount++);
    head->parameters = arena.copy(parameters_);
    function->function = head;
    function->bodies = arena.copy(std::initializer_list<Use>{body});
    if (items.empty())
      return {nullptr, function, range_};
    Node* sequence = context_.makeNode(NodeKind::Sequence, range_);
    sequence->items = arena.copy(items);
    sequence->result = {nullptr, function, range_};
    return {nullptr, sequence, range_};
  }

  // Operators.

  /// Operands stand first, by position or by name; what comes behind them is attributes.
  Node* ofOperator(const lang::OperatorRef& op, SourceRange calleeRange) {
    const lang::OperatorRow& row = *op.row;
    if (reportListInParts(row) || reportOtherForm(row, calleeRange))
      return poison(calleeRange);
    std::vector<std::optional<Use>> operands(row.operands.size());
    std::vector<GivenAttribute> attributes;
    bool repeats = !row.operands.empty() && row.operands.back().repeats;
    size_t position = 0;
    for (const Given& each : given_) {
      size_t place = each.isNamed() ? placeOf(row, each.name.text) : position++;
      if (each.isNamed() && place == row.operands.size())
        addNamed(each.name, each, attributes);
      else if (place < row.operands.size() && operands[place])
        reportName(each, {}, true);
      else if (place < row.operands.size())
        operands[place] = operandUse(each, row.operands[place]);
      else if (repeats)
        operands.push_back(use(each));
      else if (!addAttribute(row, place - row.operands.size(), each, attributes))
        return poison(calleeRange);
    }
    while (!operands.empty() && !operands.back())
      operands.pop_back();
    std::vector<Use> all;
    if (!takeAll(
            operands, [&](size_t i) { return row.operand(i).name; }, all))
      return poison(calleeRange);
    return callOf(row, calleeRange, std::move(all), std::move(attributes));
  }

  /// The call, or one of the operator that computes what an attribute gives.
  Node* callOf(const lang::OperatorRow& row, SourceRange calleeRange, std::vector<Use> operands,
               std::vector<GivenAttribute> attributes) {
    const GivenAttribute* computed = findComputed(context_, row, attributes);
    const lang::OperatorRow* computing =
        computed ? context_.environment.operators.computing(row, computed->name.text) : nullptr;
    if (computed && !computing)
      return callByNumbers(row, calleeRange, std::move(operands), std::move(attributes));
    bool isGood = !computing || computeAttributes(context_, row, *computing, operands, attributes);
    const lang::OperatorRow& called = computing ? *computing : row;
    const lang::Attributes* values =
        isGood ? buildGivenAttributes(context_, called, attributes, range_) : nullptr;
    if (!values)
      return poison(calleeRange);
    operands.push_back({operatorAtom(context_, called, calleeRange), nullptr, calleeRange});
    Node* node = makeCall(operands);
    node->attributes = values;
    isSized_ = computing || takesLengths(called);
    if (leavesElementToUse(called, attributes))
      mark(context_, *node, lang::numberMark);
    return node;
  }

  /// Whether numbers among the operands say how long the result is, and some of them are computed.
  bool takesLengths(const lang::OperatorRow& row) const {
    auto isComputed = [](const Given& each) {
      return each.value || (each.expr->kind != surface::ExprKind::IntLiteral &&
                            each.expr->kind != surface::ExprKind::FloatLiteral && !each.isNamed());
    };
    return row.shapeNeeds == lang::ShapeNeeds::Constants && std::ranges::any_of(given_, isComputed);
  }

  /// A call of an operator that takes nothing but numbers for attributes that are computed.
  Node* callByNumbers(const lang::OperatorRow& row, SourceRange calleeRange,
                      std::vector<Use> operands, std::vector<GivenAttribute> attributes) {
    std::vector<std::string_view> computed;
    while (const GivenAttribute* each = findComputed(context_, row, attributes)) {
      computed.push_back(each->name.text);
      operands.push_back(buildAttributeOperand(context_, row, *each));
      attributes.erase(attributes.begin() + (each - attributes.data()));
    }
    operands.push_back({operatorAtom(context_, row, calleeRange), nullptr, calleeRange});
    const lang::Attributes* values =
        buildGivenAttributes(context_, row, attributes, range_, computed);
    if (!values)
      return poison(calleeRange);
    Node* node = makeCall(operands);
    node->attributes = values;
    if (leavesElementToUse(row, attributes))
      mark(context_, *node, lang::numberMark);
    for (std::string_view name : computed)
      mark(context_, *node, lang::attributeMark, name);
    return node;
  }

  /// False after a report, when one in front of others is missing.
  template <typename Name>
  bool takeAll(std::span<const std::optional<Use>> operands, Name nameOf, std::vector<Use>& all) {
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i]) {
        context_.diagnostics.report(Message::MissingArgument, range_, nameOf(i));
        return false;
      }
      all.push_back(*operands[i]);
    }
    return true;
  }

  /// The place of an operand; behind the last one for what is none.
  static size_t placeOf(const lang::OperatorRow& row, std::string_view name) {
    auto found = std::ranges::find(row.operands, name, &lang::OperandRow::name);
    return size_t(found - row.operands.begin());
  }

  /// A list in brackets is a tuple where the operator takes one.
  Use operandUse(const Given& each, const lang::OperandRow& operand) {
    if (each.isStack && operand.kind == lang::OperandKind::TensorTuple)
      return each.value->node->operands[0];
    const auto* list = each.value ? nullptr : surface::tryAs<surface::TensorLiteral>(each.expr);
    return list && operand.kind == lang::OperandKind::TensorTuple
               ? buildTupleOf(context_, list->elements, list->range)
               : use(each);
  }

  void addNamed(surface::Identifier name, const Given& each,
                std::vector<GivenAttribute>& attributes) {
    auto isSame = [&](const GivenAttribute& other) { return other.name.text == name.text; };
    if (std::ranges::any_of(attributes, isSame))
      context_.diagnostics.report(Message::RepeatedArgument, name.range, name.text);
    attributes.push_back({name, each.expr, each.range()});
  }

  /// Reports `reshape(x, 2, 3)`, where the numbers are to be one list.
  bool reportListInParts(const lang::OperatorRow& row) {
    if (row.attributes.empty() || row.attributes[0].kind != lang::AttributeKind::IntList)
      return false;
    size_t first = row.operands.size(), end = first;
    while (end < given_.size() && !given_[end].isNamed() && isWhole(given_[end]))
      ++end;
    bool isSecond = row.attributes.size() > 1 &&
                    row.attributes[1].kind != lang::AttributeKind::Bool &&
                    row.attributes[1].kind != lang::AttributeKind::DType;
    if (end < first + 2 || isSecond)
      return false;
    SourceRange all = lang::cover(given_[first].expr->range, given_[end - 1].expr->range);
    context_.diagnostics
        .report(Message::ForeignForm, all,
                fmt::format("`{}` of `{}` is one list: numbers of a list stand in brackets",
                            row.attributes[0].name, row.name))
        .suggest({"write {}", {{{all.begin, all.begin}, "["}, {{all.end, all.end}, "]"}}, range_});
    return true;
  }

  /// Reports `max(x, 0.0)`, where another operator is meant than the one of that name.
  bool reportOtherForm(const lang::OperatorRow& row, SourceRange calleeRange) {
    std::string pair = fmt::format("{}(a, b)", row.name);
    std::vector<std::string_view> forms = lang::formsElsewhere(pair);
    bool isPair = given_.size() == 2 && given_[1].expr && !given_[1].isNamed() &&
                  given_[1].expr->kind == surface::ExprKind::FloatLiteral;
    if (forms.empty() || !isPair)
      return false;
    std::string_view name = forms[0].substr(0, forms[0].find('('));
    context_.diagnostics
        .report(Message::ForeignForm, calleeRange,
                fmt::format("`{}` of two values is `{}`", pair, forms[0]))
        .suggest({"write {}", {{calleeRange, std::string(name)}}, range_});
    return true;
  }

  /// Whether an argument is written as a number, or computed from some.
  bool isWhole(const Given& each) const {
    if (each.value)
      return false;
    const auto* name = surface::tryAs<surface::Name>(each.expr);
    return each.expr->kind == surface::ExprKind::IntLiteral ||
           each.expr->kind == surface::ExprKind::Infix ||
           (name && (findSize(context_, name->name) || literalConstant(context_, *name)));
  }

  /// Arguments behind the operands are attributes in their order.
  bool addAttribute(const lang::OperatorRow& row, size_t index, const Given& each,
                    std::vector<GivenAttribute>& attributes) {
    if (index < row.attributes.size() && each.expr) {
      addNamed({row.attributes[index].name, each.expr->range}, each, attributes);
      return true;
    }
    size_t most = row.operands.size() + row.attributes.size();
    auto& report =
        context_.diagnostics.report(Message::ArgumentCount, range_, fmt::format("`{}`", row.name),
                                    fmt::format("at most {}", most), most == 1 ? "" : "s",
                                    fmt::format("{} are", given_.size()));
    if (const auto* word = foreignDefinition(fmt::format("{}/{}", row.name, given_.size())))
      report.note(std::string(word->says));
    return false;
  }

  // Definitions and constructors.

  std::vector<std::string_view> parameterNames(const lang::Expr& callee) {
    if (const auto* constructor = callee.as<lang::Constructor>())
      return {constructor->fieldNames.begin(), constructor->fieldNames.end()};
    std::vector<std::string_view> names;
    if (const auto* global = callee.as<lang::Global>())
      for (const surface::Parameter& parameter : context_.definitions.surfaceOf(*global).parameters)
        names.push_back(parameter.name.text);
    return names;
  }

  Node* ofNames(const lang::Expr* callee, SourceRange calleeRange,
                std::span<const std::string_view> names) {
    std::vector<std::optional<Use>> operands;
    for (const Given& each : given_) {
      size_t place = operands.size();
      if (each.isNamed()) {
        place = size_t(std::ranges::find(names, each.name.text) - names.begin());
        if (place == names.size() || (place < operands.size() && operands[place])) {
          reportName(each, names, place < names.size(), callee);
          continue;
        }
      }
      operands.resize(std::max(operands.size(), place + 1));
      operands[place] = use(each);
    }
    if (const auto* global = callee->as<lang::Global>())
      addDefaults(*global, operands);
    std::vector<Use> all;
    if (!takeAll(
            operands, [&](size_t i) { return names[i]; }, all))
      return poison(calleeRange);
    all.push_back({callee, nullptr, calleeRange});
    return makeCall(all);
  }

  void reportName(const Given& each, std::span<const std::string_view> names, bool isKnown,
                  const lang::Expr* callee = nullptr) {
    if (isKnown) {
      context_.diagnostics.report(Message::RepeatedArgument, each.name.range, each.name.text);
      return;
    }
    auto& report =
        context_.diagnostics.report(Message::UnknownArgument, each.name.range, each.name.text);
    if (names.empty())
      return;
    report.note(fmt::format("the parameters are {}", fmt::join(names, ", ")));
    const auto* global = callee ? callee->as<lang::Global>() : nullptr;
    if (global && context_.definitions.unitOf(*global).isPrelude)
      if (const auto* row = lang::calledElsewhere(context_.environment.operators, global->name))
        report.note(fmt::format("of tensors it is `{}`", row->name));
    if (wantsHints(context_))
      suggestNames(report, each.name.range, each.name.text,
                   std::vector{NameChoices{"", {names.begin(), names.end()}}});
  }

  /// A default is an expression of the definition's text, where nothing local is in scope.
  void addDefaults(const lang::Global& global, std::vector<std::optional<Use>>& operands) {
    const surface::Function& function = context_.definitions.surfaceOf(global);
    const Unit& unit = context_.definitions.unitOf(global);
    size_t count = operands.size();
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      const surface::Expr* value = function.parameters[i].defaultValue;
      if ((i < count && operands[i]) || !value)
        continue;
      operands.resize(std::max(operands.size(), i + 1));
      operands[i] = buildApart(context_, unit, value, function.parameters[i].name.text, range_);
    }
  }

  ResolveContext& context_;
  SourceRange range_;
  std::vector<Given> given_;
  std::vector<const lang::Var*> parameters_;
  /// Whether the call is of an operator that computes a shape.
  bool isSized_ = false;
};

/// `left && right` or `left || right`: the right side is looked at only where it counts.
Use chosen(ResolveContext& context, Use left, Use right, bool isAnd, SourceRange range) {
  Use settled{scalarConstant(context, range, runtime::Bool, !isAnd), nullptr, range};
  Node* node = context.makeNode(NodeKind::If, range);
  runtime::Arena& arena = context.module.arena;
  node->operands = arena.copy(std::initializer_list<Use>{left});
  node->bodies = arena.copy(isAnd ? std::initializer_list<Use>{right, settled}
                                  : std::initializer_list<Use>{settled, right});
  return {nullptr, node, range};
}

} // namespace

namespace {

/// `ref(x)`, `ref_read(r)` and `ref_write(r, x)`, where nothing else is called so; nothing for
/// other calls.
std::optional<Use> buildReference(ResolveContext& context, const surface::Call& call) {
  const auto* name = surface::tryAs<surface::Name>(call.callee);
  constexpr std::pair<std::string_view, NodeKind> forms[] = {{"ref", NodeKind::RefNew},
                                                             {"ref_read", NodeKind::RefRead},
                                                             {"ref_write", NodeKind::RefWrite}};
  auto form = std::ranges::find(forms, name ? name->name : std::string_view(),
                                &std::pair<std::string_view, NodeKind>::first);
  if (form == std::end(forms))
    return std::nullopt;
  size_t wanted = form->second == NodeKind::RefWrite ? 2 : 1;
  if (call.arguments.size() != wanted || !call.attributes.empty())
    context.diagnostics.report(Message::ArgumentCount, call.range, fmt::format("`{}`", name->name),
                               wanted, wanted == 1 ? "" : "s",
                               fmt::format("{} are", call.arguments.size()));
  std::vector<Use> operands;
  for (const surface::Expr* argument : call.arguments)
    operands.push_back(buildExpr(context, argument));
  auto* hole = context.module.arena.make<lang::Hole>(lang::Expr{lang::ExprKind::Hole, call.range});
  operands.resize(wanted, Use{hole, nullptr, call.range});
  Node* node = context.makeNode(form->second, call.range);
  node->operands = context.module.arena.copy(operands);
  return Use{nullptr, node, call.range};
}

} // namespace

namespace {

bool isUnknownName(ResolveContext& context, const surface::Expr* callee) {
  const auto* name = surface::tryAs<surface::Name>(callee);
  return name && !context.unit->constants.contains(name->name) && !findSize(context, name->name);
}

} // namespace

Use buildBareCall(ResolveContext& context, const surface::Call& call) {
  BareForm form = formCalled(context, call.callee);
  if (form == BareForm::Fail)
    return buildFailure(context, call);
  if (form != BareForm::None)
    return BareCall(context, call.range, givenOf(call)).ofForm(form, call.callee->range);
  const lang::Expr* callee = findCallee(context, call.callee);
  if (!callee)
    if (auto reference = buildReference(context, call))
      return *reference;
  if (!callee && isUnknownName(context, call.callee) && reportForeignCall(context, call))
    return buildUnknown(context, call.range);
  if (!callee || callee->as<lang::Var>())
    return buildValueCall(context, buildExpr(context, call.callee), call);
  const auto* op = callee->as<lang::OperatorRef>();
  const surface::Call& whole = op ? wholeCall(context, *op->row, call) : call;
  return BareCall(context, call.range, givenOf(whole)).named(callee, call.callee->range);
}

Use buildValueCall(ResolveContext& context, Use callee, const surface::Call& call) {
  if (reportForeignMethod(context, call))
    return buildUnknown(context, call.range);
  if (callee.node && callee.node->kind == NodeKind::Project && !callee.node->field.empty())
    callee.node->hint = hintOfMethod(context, call);
  return BareCall(context, call.range, givenOf(call)).value(callee);
}

/// The left side takes the places of `_` in the call on the right, or comes first.
Use buildPipe(ResolveContext& context, Use left, const surface::Infix& pipe) {
  const auto* call = surface::tryAs<surface::Call>(pipe.right);
  std::vector<Given> given = call ? givenOf(*call) : std::vector<Given>();
  bool isStack = left.node && pipe.left->kind == surface::ExprKind::TensorLiteral;
  bool isPlaced = false;
  for (Given& each : given)
    if (each.isPlaceholder()) {
      each.value = left;
      each.isStack = isStack;
      isPlaced = true;
    }
  if (!isPlaced)
    given.insert(given.begin(), Given{{}, nullptr, left, isStack});
  const surface::Expr* callee = call ? call->callee : pipe.right;
  BareCall built(context, pipe.range, std::move(given));
  if (BareForm form = formCalled(context, callee);
      form == BareForm::List || form == BareForm::Print)
    return built.ofForm(form, callee->range);
  if (const lang::Expr* found = findCallee(context, callee); found && !found->as<lang::Var>())
    return built.named(found, callee->range);
  return built.value(buildExpr(context, callee));
}

Use buildOperator(ResolveContext& context, const lang::OperatorRow& row, SourceRange range,
                  SourceRange opRange, std::vector<Use> operands,
                  const std::function<const lang::AttributeValue*(std::string_view)>& setting) {
  runtime::Arena& arena = context.module.arena;
  operands.push_back({operatorAtom(context, row, opRange), nullptr, opRange});
  Node* node = context.makeNode(NodeKind::Call, range);
  node->operands = arena.copy(operands);
  node->attributes = defaultAttributes(context, row);
  if (!setting)
    return {nullptr, node, range};
  std::vector<lang::AttributeValue> values(node->attributes->values.begin(),
                                           node->attributes->values.end());
  for (size_t i = 0; i < values.size(); ++i)
    if (const lang::AttributeValue* given = setting(row.attributes[i].name))
      values[i] = lang::storedAttribute(arena, row.attributes[i], *given);
  node->attributes = arena.make<lang::Attributes>(row.attributes, arena.copy(values));
  return {nullptr, node, range};
}

Use buildEquality(ResolveContext& context, Use value, const surface::Expr* literal) {
  const lang::OperatorRow* row = context.environment.operators.findInfix("==");
  return buildOperator(context, *row, literal->range, literal->range,
                       {value, buildExpr(context, literal)});
}

Use buildBoth(ResolveContext& context, Use left, Use right, SourceRange range) {
  return chosen(context, left, right, true, range);
}

/// A constructor without a type stands for the record's own, with other fields; with none it is the
/// value, whatever that is.
Use buildWith(ResolveContext& context, Use record, const surface::With& with) {
  if (with.fields.empty())
    return record;
  runtime::Arena& arena = context.module.arena;
  std::vector<Use> operands{record};
  std::vector<LetItem> items;
  std::vector<std::string_view> names;
  for (const surface::Attribute& field : with.fields) {
    if (std::ranges::count(names, field.key.text) > 0)
      context.diagnostics.report(Message::RepeatedArgument, field.key.range, field.key.text);
    names.push_back(field.key.text);
    Use value = buildExpr(context, field.value.expr);
    // The constructor is applied in an arm of a match, where values without a place would go.
    if (value.node) {
      items.push_back(
          {context.makeVar("given", lang::VarOrigin::Let, value.range, nullptr), value});
      value = {items.back().var, nullptr, value.range};
    }
    operands.push_back(value);
    operands.back().range = lang::cover(field.key.range, operands.back().range);
  }
  operands.push_back(
      {arena.make<lang::Constructor>(lang::Expr{lang::ExprKind::Constructor, with.range}, "with",
                                     lang::Types{}, nullptr, 0u, arena.copy(names)),
       nullptr, with.range});
  Node* node = context.makeNode(NodeKind::Call, with.range);
  node->operands = arena.copy(operands);
  context.module.isOpen = true;
  return behindLets(context, items, {nullptr, node, with.range}, with.range);
}

Use buildPrefix(ResolveContext& context, const surface::Prefix& prefix) {
  Use operand = buildExpr(context, prefix.operand);
  bool isNot = prefix.op == surface::PrefixOp::Not;
  const lang::OperatorRow& row =
      context.environment.operators.withRole(isNot ? lang::Role::Not : lang::Role::Negate);
  return buildOperator(context, row, prefix.range, prefix.opRange, {operand});
}

Use buildLogic(ResolveContext& context, Use left, const surface::Infix& infix) {
  bool isAnd = infix.op == surface::InfixOp::And;
  context.locals.openFrame();
  Use right = buildExpr(context, infix.right);
  context.locals.closeFrame();
  return chosen(context, left, right, isAnd, infix.range);
}

/// A tuple of expressions.
Use buildTupleOf(ResolveContext& context, std::span<const surface::Expr* const> elements,
                 SourceRange range) {
  std::vector<Use> fields;
  for (const surface::Expr* element : elements)
    fields.push_back(buildExpr(context, element));
  return tupleOf(context, fields, range);
}

Use buildStack(ResolveContext& context, const surface::TensorLiteral& literal) {
  std::vector<Use> elements;
  for (const surface::Expr* element : literal.elements)
    elements.push_back(buildExpr(context, element));
  return stackOf(context, elements, literal.range);
}

} // namespace parser
