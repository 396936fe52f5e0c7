// Names without sigils. One look-up, nearest first, so that a program may call what it defines as
// it likes, an operator's name included.
#include "lang/op/op.h"
#include "parser/resolve/bare_forms.h"
#include "parser/resolve/foreign_calls.h"
#include "parser/resolve/name_hints.h"

#include <algorithm>

namespace parser {

using lang::Message;
using lang::SourceRange;

namespace {

/// The operator of a name, plain or of a network.
const lang::OperatorRow* findOperator(const ResolveContext& context, std::string_view name) {
  const lang::OperatorTable& operators = context.environment.operators;
  const lang::OperatorRow* row = operators.find(name);
  return row ? row : operators.find("nn." + std::string(name));
}

} // namespace

const lang::Expr* findOwn(ResolveContext& context, const Unit& unit, std::string_view name) {
  if (unit.globals.contains(name))
    return context.definitions.findGlobal(unit, name);
  return unit.constructors.contains(name) ? context.definitions.findConstructor(unit, name)
                                          : nullptr;
}

const lang::Dim* findSize(const ResolveContext& context, std::string_view name) {
  auto found = context.bare.sizes.find(name);
  bool isHidden = found == context.bare.sizes.end() || context.locals.find(name);
  return isHidden ? nullptr : found->second;
}

const lang::Expr* findBareName(ResolveContext& context, std::string_view name, SourceRange range) {
  if (const lang::Var* local = context.locals.find(name))
    return local;
  if (const lang::Expr* own = findOwn(context, *context.unit, name))
    return own;
  if (const lang::OperatorRow* row = findOperator(context, name))
    return operatorAtom(context, *row, range);
  if (const lang::Expr* ofPrelude = findOwn(context, context.definitions.prelude(), name))
    return ofPrelude;
  const Unit* common = context.definitions.common();
  return common ? findOwn(context, *common, name) : nullptr;
}

BareForm formNamed(const ResolveContext& context, std::string_view name) {
  // The operator has the name of the form, which gives it the type of its place.
  std::string_view failing = context.environment.operators.withRole(lang::Role::Fail).name;
  const Unit& unit = *context.unit;
  BareForm form = name == "list"    ? BareForm::List
                  : name == "print" ? BareForm::Print
                  : name == failing ? BareForm::Fail
                                    : BareForm::None;
  bool isHidden =
      form != BareForm::None && (unit.globals.contains(name) || unit.constants.contains(name) ||
                                 unit.constructors.contains(name));
  return isHidden ? BareForm::None : form;
}

BareForm formCalled(const ResolveContext& context, const surface::Expr* callee) {
  const auto* name = surface::tryAs<surface::Name>(callee);
  return name && !context.locals.find(name->name) ? formNamed(context, name->name) : BareForm::None;
}

Use buildUnknown(ResolveContext& context, SourceRange range) {
  return {context.module.arena.make<lang::Hole>(lang::Expr{lang::ExprKind::Hole, range}), nullptr,
          range};
}

std::optional<lang::Edit> importOf(const ResolveContext& context, std::string_view name) {
  const Imports* imports = context.environment.imports;
  const lang::SourceFile* source = context.unit->source;
  if (!imports || !source || std::ranges::count(imports->available, name) == 0)
    return std::nullopt;
  std::string_view text = source->text();
  size_t first = text.starts_with("//") ? text.find("\n\n") : std::string_view::npos;
  uint32_t place = source->base() + uint32_t(first == std::string_view::npos ? 0 : first + 2);
  return lang::Edit{{place, place}, fmt::format("import {}\n", name)};
}

void suggestImport(ResolveContext& context, lang::Diagnostic& report, std::string_view name) {
  if (auto import = importOf(context, name))
    report.suggest({"the library has that, behind {}", {*import}});
}

Use unknownName(ResolveContext& context, std::string_view name, SourceRange range) {
  const lang::OperatorTable& operators = context.environment.operators;
  if (auto reason = operators.reasonOfAbsence(name)) {
    context.diagnostics.report(Message::AbsentOperator, range, name, *reason);
    return buildUnknown(context, range);
  }
  if (reportForeignName(context, name, range))
    return buildUnknown(context, range);
  auto& report = context.diagnostics.report(Message::UnknownBareName, range, name);
  if (context.unit->imports.contains(name))
    report.note(
        fmt::format("`{}` is imported: what it defines is reached by `{}.name`", name, name));
  if (!wantsHints(context))
    return buildUnknown(context, range);
  suggestImport(context, report, name);
  std::vector<std::string_view> rows;
  bool isWhole = name.find('.') != std::string_view::npos;
  for (const lang::OperatorRow* row : operators.all())
    rows.push_back(row->name.starts_with("nn.") && !isWhole ? row->name.substr(3) : row->name);
  suggestNames(report, range, name,
               std::vector{NameChoices{"", context.locals.names()},
                           NameChoices{"", context.definitions.globalNames()},
                           NameChoices{"", context.definitions.constructorNames()},
                           NameChoices{"", std::move(rows)}, operatorsCalled(operators, name),
                           NameChoices{"", {"true", "false"}}});
  return buildUnknown(context, range);
}

/// A size as a number: a call of what says which one.
static Use buildSize(ResolveContext& context, const lang::Dim* size, SourceRange range) {
  lang::Module& module = context.module;
  auto* constant = module.arena.make<lang::Constant>(lang::Expr{lang::ExprKind::Constant, range},
                                                     module.types.unknown(module.unknownCount++));
  constant->open = lang::OpenNumber::Integer;
  constant->size = size;
  Node* node = context.makeNode(NodeKind::Call, range);
  node->operands = module.arena.copy(std::initializer_list<Use>{Use{constant, nullptr, range}});
  module.isOpen = true;
  return {nullptr, node, range};
}

void bindShared(ResolveContext& context, const surface::Item& item) {
  Use value = buildExpr(context, item.value);
  const lang::Var* var =
      context.makeVar(item.name.text, lang::VarOrigin::Let, item.name.range, nullptr);
  context.bare.shared[var] = value;
  bindLocal(context, var);
}

/// What takes any number of arguments is called, and is no function by itself.
static Use formAsValue(ResolveContext& context, std::string_view name, SourceRange range) {
  std::string argument = formNamed(context, name) == BareForm::Fail ? "\"why\"" : "x";
  context.diagnostics
      .report(Message::ForeignForm, range,
              fmt::format("`{}` is called, and is no value by itself", name))
      .suggest(
          {"a function calls it: {}", {{range, fmt::format("(fn (x) = {}({}))", name, argument)}}});
  return buildUnknown(context, range);
}

Use buildBareName(ResolveContext& context, std::string_view name, SourceRange range) {
  if (const lang::Dim* size = findSize(context, name))
    return buildSize(context, size, range);
  const lang::Var* local = context.locals.find(name);
  if (auto shared = context.bare.shared.find(local); shared != context.bare.shared.end())
    return {shared->second.atom, shared->second.node, range};
  if (!local)
    if (auto constant = context.unit->constants.find(name);
        constant != context.unit->constants.end())
      return buildModuleConstant(context, *context.unit, *constant->second, range);
  const lang::Expr* found = findBareName(context, name, range);
  if (!found && formNamed(context, name) != BareForm::None)
    return formAsValue(context, name, range);
  return found ? buildFound(context, found, range) : unknownName(context, name, range);
}

Use buildFound(ResolveContext& context, const lang::Expr* found, SourceRange range) {
  // An operator as a value becomes a function once types tell of how many operands.
  context.module.isOpen = context.module.isOpen || found->as<lang::OperatorRef>();
  const auto* constructor = found->as<lang::Constructor>();
  if (!constructor || context.definitions.fieldCount(*constructor) > 0)
    return {found, nullptr, range};
  Node* node = context.makeNode(NodeKind::Call, range);
  node->operands =
      context.module.arena.copy(std::initializer_list<Use>{Use{found, nullptr, range}});
  return {nullptr, node, range};
}

/// The value of `let name = ...` beside definitions stands wherever it is used.
Use buildModuleConstant(ResolveContext& context, const Unit& unit,
                        const surface::ConstantDefinition& constant, SourceRange range) {
  Use value = buildApart(context, unit, constant.value, constant.name.text, range);
  if (!constant.type)
    return value;
  InUnit there(context, unit);
  const lang::Var* var = context.makeVar(constant.name.text, lang::VarOrigin::Let, range,
                                         buildType(context, constant.type));
  return boundBy(context, var, value, range);
}

namespace {

/// Whether a value may be built inside of those that are open; else it is reported.
bool mayOpen(ResolveContext& context, const surface::Expr* expr, std::string_view name,
             SourceRange range) {
  if (std::ranges::count(context.bare.apart.open, expr) > 0) {
    context.diagnostics.report(Message::RecursiveConstant, range, name);
    return false;
  }
  if (context.bare.apart.depth + expr->depth > surface::maximumDepth) {
    context.diagnostics.report(Message::TextTooDeep, range, surface::maximumDepth)
        .note(fmt::format("`{}` stands for a text that has others in it", name));
    return false;
  }
  return true;
}

} // namespace

/// Inside of one value each other one is built once, or a chain of sums of two would be a tree.
Use buildApart(ResolveContext& context, const Unit& unit, const surface::Expr* expr,
               std::string_view name, SourceRange range) {
  ResolveContext::ApartValues& apart = context.bare.apart;
  if (auto known = apart.made.find(expr); known != apart.made.end())
    return {nullptr, known->second.node, range};
  if (!mayOpen(context, expr, name, range))
    return buildUnknown(context, range);
  apart.open.push_back(expr);
  apart.depth += expr->depth;
  InUnit there(context, unit);
  size_t hidden = context.locals.hideAll();
  auto sizes = std::exchange(context.bare.sizes, {});
  context.locals.openFrame();
  Use use = buildExpr(context, expr);
  context.locals.closeFrame();
  context.bare.sizes = std::move(sizes);
  context.locals.show(hidden);
  apart.depth -= expr->depth;
  apart.open.pop_back();
  if (apart.open.empty())
    apart.made.clear();
  else if (use.node)
    apart.made.emplace(expr, use);
  use.range = range;
  return use;
}

Use buildField(ResolveContext& context, Use record, const surface::Field& field) {
  if (field.name.text == "T")
    return buildOperator(context,
                         context.environment.operators.withRole(lang::Role::MatrixTranspose),
                         field.range, field.name.range, {record});
  Node* node = context.makeNode(NodeKind::Project, field.range);
  node->operands = context.module.arena.copy(std::initializer_list<Use>{record});
  node->field = field.name.text;
  node->hint = hintOfField(context, field);
  context.module.isOpen = true;
  return {nullptr, node, field.range};
}

} // namespace parser
