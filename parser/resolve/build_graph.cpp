// Expressions of the surface tree to the graph. Chains that lean to the left (calls of calls,
// operators, projections) are loops; recursion follows the nesting that the reader bounds.
#include "lang/ir/open_marks.h"
#include "lang/op/op.h"
#include "parser/resolve/bare_forms.h"
#include "parser/resolve/name_hints.h"
#include "parser/resolve/size_hints.h"

namespace parser {

using lang::ExprKind;
using lang::Message;
using lang::SourceRange;

namespace {

std::string_view infixSymbol(surface::InfixOp op) {
  constexpr std::string_view symbols[] = {
      "*", "/", "+", "-", "<", "<=", ">", ">=", "==", "!=", "%", "@", "**", "&&", "||", "|>"};
  return symbols[size_t(op)];
}

class GraphBuilder {
public:
  explicit GraphBuilder(ResolveContext& context) : context_(context) {}

  Use build(const surface::Expr* expr) {
    std::vector<const surface::Expr*> spine;
    const surface::Expr* at = expr;
    for (const surface::Expr* left = leftOf(at); left; left = leftOf(at)) {
      spine.push_back(at);
      at = left;
    }
    Use use = buildBase(at);
    for (; !spine.empty(); spine.pop_back())
      use = extend(use, spine.back());
    return use;
  }

  Node* function(const surface::Function& function, SourceRange range, bool isDefinition = false) {
    context_.locals.openFrame();
    context_.typeParameters.openFrame();
    runtime::Arena& arena = context_.module.arena;
    auto* head = arena.make<lang::Function>(lang::Expr{ExprKind::Function, range},
                                            context_.module.functionCount++);
    auto declared = generics(function.generics);
    if (isDefinition)
      context_.bare.letters.assign(declared.begin(), declared.end());
    context_.bare.isSignature = isDefinition && isBare(context_);
    head->parameters = parameters(function.parameters, isDefinition);
    head->partialResult = isDefinition ? buildPartial(context_, function.result) : nullptr;
    head->resultAnnotation = head->partialResult ? nullptr : buildType(context_, function.result);
    context_.bare.isSignature = false;
    head->generics = isDefinition ? arena.copy(context_.bare.letters) : declared;
    head->attributes = buildNamed(context_, function.attributes);
    std::vector<LetItem> items = buildParameterLets(context_, function, *head);
    Use body = behindLets(context_, items, build(function.body), function.body->range);
    context_.typeParameters.closeFrame();
    context_.locals.closeFrame();
    Node* node = context_.makeNode(NodeKind::Function, range);
    node->bodies = arena.copy(std::initializer_list<Use>{body});
    node->function = head;
    return node;
  }

private:
  /// The next expression down a chain that leans to the left, or null at its foot. A name that is
  /// called is no value of its own, so it ends the chain; so does one that dots join.
  const surface::Expr* leftOf(const surface::Expr* expr) {
    switch (expr->kind) {
    case surface::ExprKind::Infix:
      return surface::as<surface::Infix>(expr).left;
    case surface::ExprKind::Project:
      return surface::as<surface::Project>(expr).operand;
    case surface::ExprKind::Field:
      return isJoinedName(context_, expr) ? nullptr : surface::as<surface::Field>(expr).operand;
    case surface::ExprKind::Index:
      return surface::as<surface::Index>(expr).operand;
    case surface::ExprKind::With:
      return surface::as<surface::With>(expr).operand;
    case surface::ExprKind::Call: {
      const surface::Expr* callee = surface::as<surface::Call>(expr).callee;
      bool isName = callee->kind == surface::ExprKind::Name ||
                    (callee->kind == surface::ExprKind::Field && isJoinedName(context_, callee));
      return isName ? nullptr : callee;
    }
    default:
      return nullptr;
    }
  }

  Use extend(Use left, const surface::Expr* expr) {
    if (const auto* infix = surface::tryAs<surface::Infix>(expr))
      return buildInfix(left, *infix);
    if (const auto* call = surface::tryAs<surface::Call>(expr))
      return isBare(context_)
                 ? buildValueCall(context_, left, *call)
                 : buildPlainCall(left, *call, "a call of something that is no operator");
    if (const auto* field = surface::tryAs<surface::Field>(expr))
      return buildField(context_, left, *field);
    if (const auto* index = surface::tryAs<surface::Index>(expr))
      return buildIndex(context_, left, *index);
    if (const auto* with = surface::tryAs<surface::With>(expr))
      return buildWith(context_, left, *with);
    const auto& project = surface::as<surface::Project>(expr);
    Node* node = makeNode(NodeKind::Project, expr->range, {left});
    node->index = project.index;
    return useOf(node);
  }

  Use buildBase(const surface::Expr* expr) {
    switch (expr->kind) {
    case surface::ExprKind::IntLiteral:
    case surface::ExprKind::FloatLiteral:
    case surface::ExprKind::BoolLiteral:
      return atomOr(buildLiteral(context_, expr), expr->range);
    case surface::ExprKind::TensorLiteral: {
      const auto& literal = surface::as<surface::TensorLiteral>(expr);
      return isBare(context_) && !isOfNumbers(literal)
                 ? buildStack(context_, literal)
                 : atomOr(buildLiteral(context_, expr), expr->range);
    }
    case surface::ExprKind::Local:
      return buildLocal(surface::as<surface::Local>(expr));
    case surface::ExprKind::Graph:
      return buildGraphVariable(surface::as<surface::Graph>(expr));
    case surface::ExprKind::Global:
      return buildGlobal(surface::as<surface::Global>(expr));
    case surface::ExprKind::Name:
      return buildName(surface::as<surface::Name>(expr));
    case surface::ExprKind::Meta:
      return atomOr(buildMetaConstant(context_, surface::as<surface::Meta>(expr).meta, expr->range),
                    expr->range);
    case surface::ExprKind::Hole:
      return buildHole(expr->range);
    case surface::ExprKind::FunctionLiteral:
      return useOf(function(*surface::as<surface::FunctionLiteral>(expr).function, expr->range));
    case surface::ExprKind::If:
      return buildIf(surface::as<surface::If>(expr));
    case surface::ExprKind::Match:
      return buildMatch(surface::as<surface::Match>(expr));
    case surface::ExprKind::RefNew:
      return useOf(makeNode(NodeKind::RefNew, expr->range,
                            {build(surface::as<surface::RefNew>(expr).value)}));
    case surface::ExprKind::RefRead:
      return useOf(makeNode(NodeKind::RefRead, expr->range,
                            {build(surface::as<surface::RefRead>(expr).cell)}));
    case surface::ExprKind::RefWrite:
      return buildRefWrite(surface::as<surface::RefWrite>(expr));
    case surface::ExprKind::Tuple:
      return buildTuple(surface::as<surface::Tuple>(expr));
    case surface::ExprKind::Call:
      return isBare(context_) ? buildBareCall(context_, surface::as<surface::Call>(expr))
                              : buildNamedCall(surface::as<surface::Call>(expr));
    case surface::ExprKind::Prefix:
      return buildPrefix(context_, surface::as<surface::Prefix>(expr));
    case surface::ExprKind::Field:
      return buildJoinedName(context_, expr);
    case surface::ExprKind::TextLiteral:
      context_.diagnostics.report(Message::ReservedForm, expr->range, "texts as values")
          .note("`print(\"x is {}\", x)` shows a text with values in it");
      return poison(expr->range);
    case surface::ExprKind::Placeholder:
      context_.diagnostics.report(Message::StrayPlaceholder, expr->range);
      return poison(expr->range);
    case surface::ExprKind::Sequence:
      return buildSequence(surface::as<surface::Sequence>(expr));
    default:
      return poison(expr->range);
    }
  }

  // Atoms.

  /// A hole where an error was reported, so that what is around it can be asked about.
  Use poison(SourceRange range) {
    return {context_.module.arena.make<lang::Hole>(lang::Expr{ExprKind::Hole, range}), nullptr,
            range};
  }

  Use buildHole(SourceRange range) {
    constexpr size_t mostNames = 500;
    runtime::Arena& arena = context_.module.arena;
    auto* hole = arena.make<lang::Hole>(lang::Expr{ExprKind::Hole, range},
                                        arena.copy(context_.locals.values(mostNames)));
    return {hole, nullptr, range};
  }

  Use atomOr(const lang::Expr* atom, SourceRange range) {
    return atom ? Use{atom, nullptr, range} : poison(range);
  }

  Use buildLocal(const surface::Local& local) {
    const lang::Var* var = context_.locals.find(local.name);
    if (var && isInNoFunction(*var))
      return poison(local.range);
    if (var)
      return {var, nullptr, local.range};
    auto& report = context_.diagnostics.report(Message::UnknownLocal, local.range,
                                               lang::localName(local.name));
    if (wantsHints(context_))
      suggestNames(report, local.range, local.name,
                   std::vector{NameChoices{"%", context_.locals.names()}, sameGlobals(local.name)});
    return poison(local.range);
  }

  /// A free variable of a definition, which was reported where it is declared.
  bool isInNoFunction(const lang::Var& var) const {
    return var.origin == lang::VarOrigin::Free &&
           context_.module.form != lang::ModuleForm::Expression;
  }

  Use buildGraphVariable(const surface::Graph& variable) {
    auto found = context_.relay.graph.find(variable.number);
    if (found == context_.relay.graph.end()) {
      context_.diagnostics.report(Message::UnknownGraphVariable, variable.range, variable.number);
      return poison(variable.range);
    }
    found->second.isUsed = true;
    Use use = found->second.use;
    use.range = variable.range;
    return use;
  }

  Use buildGlobal(const surface::Global& global) {
    if (const lang::Global* found = context_.definitions.findGlobal(*context_.unit, global.name))
      return {found, nullptr, global.range};
    auto& report = context_.diagnostics.report(Message::UnknownGlobal, global.range,
                                               lang::globalName(global.name));
    if (wantsHints(context_))
      suggestNames(report, global.range, global.name,
                   std::vector{NameChoices{"@", context_.definitions.globalNames()},
                               sameLocals(global.name), sameOperators(global.name),
                               operatorsCalled(context_.environment.operators, global.name)});
    return poison(global.range);
  }

  /// A constructor or an operator, or null after a report. Constructors come first, as in TVM.
  const lang::Expr* findName(std::string_view name, SourceRange range) {
    if (const auto* found = context_.definitions.findConstructor(*context_.unit, name))
      return found;
    if (const lang::OperatorRow* row = context_.environment.operators.find(name))
      return operatorAtom(context_, *row, range);
    if (auto reason = context_.environment.operators.reasonOfAbsence(name)) {
      context_.diagnostics.report(Message::AbsentOperator, range, name, *reason);
      return nullptr;
    }
    auto& report = context_.diagnostics.report(Message::UnknownName, range, name);
    if (wantsHints(context_))
      hintAtName(report, name, range);
    return nullptr;
  }

  // Names that somebody wrote with the sigil of another kind, or without one.

  NameChoices sameLocals(std::string_view name) {
    bool isLocal = context_.locals.find(name) != nullptr;
    return {"%", isLocal ? std::vector{name} : std::vector<std::string_view>{}};
  }
  NameChoices sameGlobals(std::string_view name) {
    bool isGlobal = context_.definitions.findGlobal(*context_.unit, name) != nullptr;
    return {"@", isGlobal ? std::vector{name} : std::vector<std::string_view>{}};
  }
  NameChoices sameOperators(std::string_view name) {
    bool isOperator = context_.environment.operators.find(name) != nullptr;
    return {"", isOperator ? std::vector{name} : std::vector<std::string_view>{}};
  }

  void hintAtName(lang::Diagnostic& report, std::string_view name, SourceRange range) {
    if (const lang::Var* local = localWithSize(context_, name))
      return hintAtSizeValue(report, context_, name, *local);
    std::vector<std::string_view> operators;
    for (const lang::OperatorRow* row : context_.environment.operators.all())
      operators.push_back(row->name);
    suggestNames(report, range, name,
                 std::vector{sameLocals(name), sameGlobals(name),
                             NameChoices{"", context_.definitions.constructorNames()},
                             NameChoices{"", std::move(operators)},
                             operatorsCalled(context_.environment.operators, name),
                             NameChoices{"", {"True", "False", "None"}}});
    // What the value of an attribute may be.
    report.suggest({"texts and element types are written in quotes: {}",
                    {{range, fmt::format("\"{}\"", name)}},
                    {},
                    true});
  }

  Use buildName(const surface::Name& name) {
    if (isBare(context_))
      return buildBareName(context_, name.name, name.range);
    const lang::Expr* found = findName(name.name, name.range);
    if (!found)
      return poison(name.range);
    const auto* constructor = found->as<lang::Constructor>();
    if (constructor && isNullary(*constructor))
      return useOf(makeNode(NodeKind::Call, name.range, {Use{found, nullptr, name.range}}));
    return {found, nullptr, name.range};
  }

  /// Whether a constructor has no fields; its own may not be resolved yet, so the text decides.
  bool isNullary(const lang::Constructor& constructor) {
    return context_.definitions.fieldCount(constructor) == 0;
  }

  // Nodes.

  Use useOf(Node* node) { return {nullptr, node, node->range}; }

  Node* makeNode(NodeKind kind, SourceRange range, const std::vector<Use>& operands) {
    Node* node = context_.makeNode(kind, range);
    node->operands = context_.module.arena.copy(operands);
    return node;
  }

  Use buildTuple(const surface::Tuple& tuple) {
    std::vector<Use> fields;
    for (const surface::Expr* field : tuple.fields) {
      fields.push_back(build(field));
      if (fields.size() > 1)
        warnOfMinus(field);
    }
    return useOf(makeNode(NodeKind::Tuple, tuple.range, fields));
  }

  Use buildRefWrite(const surface::RefWrite& write) {
    Use cell = build(write.cell);
    Use value = build(write.value);
    return useOf(makeNode(NodeKind::RefWrite, write.range, {cell, value}));
  }

  Use buildInfix(Use left, const surface::Infix& infix) {
    if (infix.op == surface::InfixOp::Pipe)
      return buildPipe(context_, left, infix);
    if (infix.op == surface::InfixOp::And || infix.op == surface::InfixOp::Or)
      return buildLogic(context_, left, infix);
    std::string_view symbol = infixSymbol(infix.op);
    const lang::OperatorRow* row = context_.environment.operators.findInfix(symbol);
    Use right = build(infix.right);
    if (!row) {
      context_.diagnostics.report(Message::UnknownName, infix.opRange, symbol);
      return poison(infix.range);
    }
    const lang::Expr* callee = operatorAtom(context_, *row, infix.opRange);
    Node* node =
        makeNode(NodeKind::Call, infix.range, {left, right, Use{callee, nullptr, infix.opRange}});
    node->attributes = defaultAttributes(context_, *row);
    if (infix.op == surface::InfixOp::Divide && isBare(context_))
      mark(context_, *node, lang::quotientMark);
    return useOf(node);
  }

  std::vector<Use> buildArguments(const surface::Call& call) {
    std::vector<Use> arguments;
    for (const surface::Expr* argument : call.arguments) {
      bool first = arguments.empty();
      arguments.push_back(build(argument));
      if (!first)
        warnOfMinus(argument);
    }
    if (call.metaTail && !namesAttributes(call.metaTail->meta))
      arguments.push_back(
          atomOr(buildMetaConstant(context_, call.metaTail->meta, call.metaTail->range),
                 call.metaTail->range));
    return arguments;
  }

  /// `%n -1` in a list is two elements. Where no comma stands in front of a negative literal,
  /// somebody meant a subtraction.
  void warnOfMinus(const surface::Expr* element) {
    const auto* literal = surface::tryAs<surface::IntLiteral>(element);
    if (!literal || literal->value >= 0 || context_.unit->isPrelude)
      return;
    std::string_view before =
        context_.source.text().substr(0, element->range.begin - context_.source.base());
    size_t last = before.find_last_not_of(" \t\r\n");
    if (last != std::string_view::npos && before[last] != ',' && before[last] != '/')
      context_.diagnostics.report(Message::SuspiciousElement, element->range, literal->value)
          .suggest({"a subtraction has blanks on both sides: {}",
                    {{{element->range.begin, element->range.begin + 1}, "- "}},
                    element->range});
  }

  /// Arguments without the names that were given to them.
  static void suggestPositions(lang::Diagnostic& report, const surface::Call& call) {
    std::vector<lang::Edit> edits;
    for (const surface::Attribute& attribute : call.attributes)
      edits.push_back({{attribute.key.range.begin, attribute.value.range.begin}, ""});
    report.suggest({"arguments are given by their positions: {}", std::move(edits), call.range});
  }

  Use buildPlainCall(Use callee, const surface::Call& call, std::string_view what) {
    std::vector<Use> operands = buildArguments(call);
    operands.push_back(callee);
    Node* node = makeNode(NodeKind::Call, call.range, operands);
    node->named = buildNamed(context_, call.attributes);
    bool hasKey = false;
    for (const lang::NamedAttribute& attribute : node->named)
      hasKey |= attribute.name == "attrs_type_key";
    if (!node->named.empty() && !hasKey)
      suggestPositions(context_.diagnostics.report(Message::UnexpectedAttributes,
                                                   call.attributes[0].key.range, what),
                       call);
    if (call.metaTail && namesAttributes(call.metaTail->meta))
      context_.diagnostics.report(Message::UnexpectedAttributes, call.metaTail->range, what);
    return useOf(node);
  }

  Use buildNamedCall(const surface::Call& call) {
    const auto& name = surface::as<surface::Name>(call.callee);
    const lang::Expr* callee = findName(name.name, name.range);
    if (!callee) {
      std::vector<Use> operands = buildArguments(call);
      operands.push_back(poison(name.range));
      return useOf(makeNode(NodeKind::Call, call.range, operands));
    }
    Use calleeUse{callee, nullptr, name.range};
    const auto* op = callee->as<lang::OperatorRef>();
    if (!op)
      return buildPlainCall(calleeUse, call, "a constructor");
    std::vector<Use> operands = buildArguments(call);
    operands.push_back(calleeUse);
    const lang::Attributes* attributes = buildAttributes(context_, *op->row, call);
    if (!attributes) {
      operands.back() = poison(name.range);
      return useOf(makeNode(NodeKind::Call, call.range, operands));
    }
    Node* node = makeNode(NodeKind::Call, call.range, operands);
    node->attributes = attributes;
    return useOf(node);
  }

  // Scopes.

  Use buildInFrame(const surface::Expr* expr) {
    context_.locals.openFrame();
    Use use = build(expr);
    context_.locals.closeFrame();
    return use;
  }

  Use buildIf(const surface::If& branch) {
    Use condition = build(branch.condition);
    Use then = buildInFrame(branch.then);
    Use otherwise = buildInFrame(branch.otherwise);
    Node* node = makeNode(NodeKind::If, branch.range, {condition});
    node->bodies = context_.module.arena.copy(std::initializer_list<Use>{then, otherwise});
    return useOf(node);
  }

  Use buildMatch(const surface::Match& match) {
    if (hasBareArms(match))
      return buildBareMatch(context_, match);
    Use scrutinee = build(match.scrutinee);
    std::vector<Use> bodies;
    std::vector<const lang::Pattern*> patterns;
    for (const surface::Arm& arm : match.arms) {
      context_.locals.openFrame();
      patterns.push_back(buildPattern(context_, arm.pattern));
      bodies.push_back(build(arm.body));
      context_.locals.closeFrame();
    }
    Node* node = makeNode(NodeKind::Match, match.range, {scrutinee});
    node->isPartial = match.isPartial;
    node->bodies = context_.module.arena.copy(bodies);
    node->patterns = context_.module.arena.copy(patterns);
    return useOf(node);
  }

  Use buildSequence(const surface::Sequence& sequence) {
    size_t mark = context_.locals.mark(), frames = context_.locals.frameCount();
    if (sequence.braces)
      context_.locals.openFrame();
    std::vector<LetItem> items;
    bool isFirst = true;
    for (const surface::Item& item : sequence.items)
      buildItem(item, items, isFirst);
    Use result = build(sequence.result);
    context_.locals.restore(mark, frames);
    return behindLets(context_, items, result, sequence.range);
  }

  void buildItem(const surface::Item& item, std::vector<LetItem>& items, bool& isFirst) {
    switch (item.kind) {
    case surface::ItemKind::Graph:
      isBare(context_) ? bindShared(context_, item) : bindGraph(item);
      break;
    case surface::ItemKind::Let:
      if (item.pattern)
        buildPatternLets(context_, item, items);
      else
        items.push_back(buildLet(item, isFirst));
      isFirst = false;
      break;
    case surface::ItemKind::Effect: {
      Use value = build(item.value);
      items.push_back({context_.makeVar({}, lang::VarOrigin::Let, item.range, nullptr), value});
      break;
    }
    case surface::ItemKind::FreeVar:
      bindFreeVariable(item);
      break;
    }
  }

  void bindGraph(const surface::Item& item) {
    Use value = build(item.value);
    auto [binding, isNew] = context_.relay.graph.try_emplace(
        item.number, ResolveContext::Relay::GraphBinding{value, item.range});
    binding->second.use = value;
    if (!isNew)
      context_.diagnostics.report(Message::RepeatedGraphVariable, item.range, item.number)
          .label(binding->second.range, "first bound here");
  }

  /// The first let of a chain adds to the frame it stands in; every later one opens a frame. A
  /// name is in scope in its own value when that is a function literal.
  LetItem buildLet(const surface::Item& item, bool isFirst) {
    const lang::Type* annotation = buildType(context_, item.type);
    const lang::Var* var =
        context_.makeVar(item.name.text, lang::VarOrigin::Let, item.name.range, annotation);
    if (!isFirst)
      context_.locals.openFrame();
    bool mayRecurse = item.value->kind == surface::ExprKind::FunctionLiteral;
    if (mayRecurse)
      bindLocal(context_, var);
    Use value = build(item.value);
    if (!mayRecurse)
      bindLocal(context_, var);
    return {var, withoutSizedLet(context_, value)};
  }

  void bindFreeVariable(const surface::Item& item) {
    if (context_.module.form != lang::ModuleForm::Expression)
      context_.diagnostics.report(Message::FreeVariableInModule, item.range);
    const lang::Type* annotation = buildType(context_, item.type);
    const lang::Var* var =
        context_.makeVar(item.name.text, lang::VarOrigin::Free, item.name.range, annotation);
    context_.locals.bind(var->name, var);
    context_.relay.freeVariables.push_back(var);
  }

  std::span<const lang::TypeParameter* const> generics(std::span<const surface::Identifier> names) {
    std::vector<const lang::TypeParameter*> result;
    for (const surface::Identifier& name : names) {
      result.push_back(context_.module.arena.make<lang::TypeParameter>(name.text));
      if (!context_.typeParameters.findInFrame(name.text))
        context_.typeParameters.bind(name.text, result.back());
    }
    return context_.module.arena.copy(result);
  }

  std::span<const lang::Var* const> parameters(std::span<const surface::Parameter> list,
                                               bool isDefinition) {
    std::vector<const lang::Var*> result;
    for (size_t i = 0; i < list.size(); ++i) {
      const surface::Parameter& parameter = list[i];
      const lang::PartialTensor* partial =
          isDefinition ? buildPartial(context_, parameter.type) : nullptr;
      const lang::Type* annotation = partial ? nullptr : buildType(context_, parameter.type);
      auto* var = context_.module.arena.make<lang::Var>(
          lang::Expr{ExprKind::Var, parameter.name.range}, parameterName(context_, list, i),
          lang::VarOrigin::Parameter, context_.module.varCount++, annotation);
      var->device = device(parameter);
      var->partial = partial;
      if (!parameter.pattern)
        bindLocal(context_, var);
      result.push_back(var);
    }
    return context_.module.arena.copy(result);
  }

  /// Of a parameter's attributes Relay keeps a lone device.
  const lang::AttributeValue* device(const surface::Parameter& parameter) {
    if (parameter.attributes.size() != 1 || parameter.attributes[0].key.text != "virtual_device")
      return nullptr;
    return &buildNamed(context_, parameter.attributes)[0].value;
  }

  ResolveContext& context_;
};

} // namespace

Node* buildFunction(ResolveContext& context, const surface::Function& function) {
  return GraphBuilder(context).function(function, function.range, true);
}

Use buildExpr(ResolveContext& context, const surface::Expr* expr) {
  return GraphBuilder(context).build(expr);
}

} // namespace parser
