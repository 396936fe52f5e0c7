// Expressions, of operands that have been restored.
#include "parser/restore/pieces.h"
#include "parser/restore/types.h"

#include <algorithm>

namespace parser::restoring {

namespace {

/// How wide an expression may be before its operands get lines of their own, and how wide such
/// count that are broken anyhow.
constexpr uint32_t mostWidth = 72, brokenWidth = 12;
/// So many operands have a line each anyhow; then it is how wide one of them may be.
constexpr size_t manyOperands = 5;

} // namespace

// Names.

Piece PieceMaker::words(std::string_view name) {
  auto* made = make<surface::Name>();
  made->name = arena_.copyText(name);
  return {made, uint32_t(name.size()), true};
}

/// Words that dots join.
Piece PieceMaker::spelled(Spelling spelling) {
  std::string_view rest = spelling.name;
  bool isOperator = shared_.operators.find(rest) != nullptr;
  size_t dot = isOperator ? rest.find('.') : rest.npos;
  Piece made = words(spelling.room.empty() ? rest.substr(0, dot) : spelling.room);
  if (spelling.room.empty())
    rest = dot == rest.npos ? std::string_view() : rest.substr(dot + 1);
  while (!rest.empty()) {
    dot = isOperator ? rest.find('.') : rest.npos;
    auto* field = make<surface::Field>();
    field->operand = made.expr;
    field->name = {arena_.copyText(rest.substr(0, dot)), {}};
    made.expr = field;
    made.width += uint32_t(field->name.text.size()) + 1;
    rest = dot == rest.npos ? std::string_view() : rest.substr(dot + 1);
  }
  return made;
}

// Operands.

Piece PieceMaker::operand(const lang::Expr& value) {
  const lang::Expr* atom = vars_.resolve(&value);
  if (const lang::Var* var = vars_.temporary(atom)) {
    Piece piece = pieces_.at(var->number);
    if (!piece.isSmall)
      piece.var = var;
    return piece;
  }
  if (const auto* var = atom->as<lang::Var>())
    return words(nameOf(*var));
  if (const auto* constant = atom->as<lang::Constant>())
    return this->constant(*constant, NumberType::Default);
  if (const auto* global = atom->as<lang::Global>())
    return spelled(shared_.names.of(global->name));
  if (const auto* constructor = atom->as<lang::Constructor>())
    return spelled(shared_.names.of(constructor->name));
  if (const auto* op = atom->as<lang::OperatorRef>())
    return spelled(locals_.ofOperator(op->row->name));
  return {make<surface::Hole>(), 1, true};
}

/// Gives names to operands until the rest is no wider than a line, widest first. `more` is the
/// width of all that is no operand.
void PieceMaker::shorten(std::vector<Piece>& pieces, uint32_t more) {
  uint32_t width = more;
  for (Piece& piece : pieces) {
    if (piece.isBranching && piece.var)
      piece = named(*piece.var, piece);
    width += piece.width + 2;
  }
  bool areMany = pieces.size() >= manyOperands;
  while (areMany || width > mostWidth) {
    auto widest = std::ranges::max_element(
        pieces, {}, [](const Piece& piece) { return piece.var ? piece.width : 0; });
    if (widest == pieces.end() || !widest->var || (areMany && widest->width <= mostWidth))
      return;
    width -= widest->width;
    *widest = named(*widest->var, *widest);
    width += widest->width;
  }
}

Piece PieceMaker::single(const lang::Operand& operand, uint32_t more) {
  std::vector<Piece> pieces{this->operand(*operand.value)};
  shorten(pieces, more);
  return pieces[0];
}

// Values.

Piece PieceMaker::value(const lang::Expr& expr) {
  return lang::match(
      expr, [&](const lang::Expr& atom) { return operand(atom); },
      [&](const lang::TupleExpr& tuple) { return this->tuple(tuple); },
      [&](const lang::Project& project) { return this->project(project); },
      [&](const lang::Call& call) { return this->call(call); },
      [&](const lang::If& branch) { return this->branch(branch); },
      [&](const lang::Match& match) { return this->match(match); },
      [&](const lang::Function& function) { return lambda(function); },
      [&](const lang::RefNew& ref) { return reference("ref", {&ref.content}); },
      [&](const lang::RefRead& ref) { return reference("ref_read", {&ref.reference}); },
      [&](const lang::RefWrite& ref) {
        return reference("ref_write", {&ref.reference, &ref.value});
      },
      [&](const lang::BlockExpr& block) {
        return Piece{bodies_.at(block.block), brokenWidth, false, true};
      });
}

Piece PieceMaker::reference(const char* name,
                            std::initializer_list<const lang::Operand*> operands) {
  std::vector<Piece> pieces;
  for (const lang::Operand* each : operands)
    pieces.push_back(operand(*each->value));
  Piece callee = words(name);
  shorten(pieces, callee.width);
  return callOf(callee, pieces, {});
}

Piece PieceMaker::tuple(const lang::TupleExpr& tuple) {
  std::vector<Piece> pieces;
  for (const lang::Operand& field : tuple.fields)
    pieces.push_back(operand(*field.value));
  shorten(pieces, 2);
  auto* made = make<surface::Tuple>();
  std::vector<const surface::Expr*> fields;
  uint32_t width = 2;
  for (const Piece& piece : pieces) {
    fields.push_back(piece.expr);
    width += piece.width + 2;
  }
  made->fields = arena_.copy(fields);
  return {made, width, fields.empty()};
}

/// `t.0`, or `p.w` of what only Baton's notation has until it is checked.
Piece PieceMaker::project(const lang::Project& project) {
  Piece tuple = single(project.tuple, 4);
  if (!project.field.empty())
    return fieldOf(tuple, project.field);
  auto* made = make<surface::Project>();
  made->operand = tuple.expr;
  made->index = project.index;
  return {made, tuple.width + 2};
}

Piece PieceMaker::branch(const lang::If& branch) {
  auto* made = make<surface::If>();
  made->condition = single(branch.condition, 8).expr;
  made->then = bodies_.at(branch.thenBlock);
  made->otherwise = bodies_.at(branch.elseBlock);
  return {made, brokenWidth, false, true};
}

namespace {

using Renamed = std::unordered_map<const lang::Var*, const lang::Var*>;

/// Whether a record is, by another name, a parameter whose type the text does not say: fields by
/// name tell nothing of that, and a match does.
bool isUntold(const lang::Operand& record, const Renamed& renamed) {
  const auto* var = record.value->as<lang::Var>();
  for (auto other = renamed.find(var); other != renamed.end(); other = renamed.find(var))
    var = other->second;
  return var && var->origin == lang::VarOrigin::Parameter &&
         (!var->annotation || var->annotation->hasUnknown);
}

} // namespace

/// `p.w` and `p with (w = value)`, which are matches of one arm once types are known.
std::optional<Piece> PieceMaker::recordForm(const lang::Match& match) {
  const lang::Pattern& pattern = *match.arms[0].pattern;
  auto saysType = [](const lang::Pattern* part) { return part->var && part->var->annotation; };
  bool isRecord = match.arms.size() == 1 && !match.isPartial && pattern.constructor &&
                  !pattern.constructor->fieldNames.empty() && !pattern.isGuarded &&
                  std::ranges::none_of(pattern.parts, saysType) &&
                  (shared_.showsTypes || !isUntold(match.scrutinee, renamed_));
  if (!isRecord)
    return std::nullopt;
  const lang::Block& body = *match.arms[0].body;
  const auto& names = pattern.constructor->fieldNames;
  size_t bound = 0, read = names.size();
  for (size_t i = 0; i < names.size(); ++i)
    if (pattern.parts[i]->kind != lang::PatternKind::Wildcard) {
      ++bound;
      read = pattern.parts[i]->var == body.result.value ? i : read;
    }
  if (bound == 1 && read < names.size() && body.bindings.empty())
    return fieldOf(single(match.scrutinee, uint32_t(names[read].size())), names[read]);
  const auto* call = body.bindings.size() == 1 ? body.bindings[0].value->as<lang::Call>() : nullptr;
  if (!call || body.result.value != body.bindings[0].var ||
      call->callee.value != pattern.constructor || bound == 0)
    return std::nullopt;
  return changedRecord(match, *call);
}

Piece PieceMaker::fieldOf(Piece operand, std::string_view name) {
  auto* field = make<surface::Field>();
  field->operand = operand.expr;
  field->name = {arena_.copyText(name), {}};
  return {field, operand.width + uint32_t(name.size()) + 1};
}

/// `call` makes the record anew from fields of the old one and other values.
std::optional<Piece> PieceMaker::changedRecord(const lang::Match& match, const lang::Call& call) {
  const lang::Pattern& pattern = *match.arms[0].pattern;
  const auto* made = surface::tryAs<surface::Call>(bodies_.at(match.arms[0].body));
  if (!made)
    return std::nullopt;
  std::vector<surface::Attribute> fields;
  uint32_t width = 8;
  for (size_t i = 0; i < pattern.parts.size(); ++i) {
    if (pattern.parts[i]->kind == lang::PatternKind::Var) {
      if (pattern.parts[i]->var != call.arguments[i].value)
        return std::nullopt;
      continue;
    }
    auto isBoundHere = [&](const lang::Pattern* part) {
      return part->var && part->var == call.arguments[i].value;
    };
    if (pattern.parts[i]->kind != lang::PatternKind::Wildcard ||
        std::ranges::any_of(pattern.parts, isBoundHere))
      return std::nullopt;
    surface::Attribute field{{arena_.copyText(pattern.constructor->fieldNames[i]), {}}, {}};
    field.value.kind = surface::AttributeKind::Expr;
    field.value.expr = made->arguments[i];
    fields.push_back(field);
    width += uint32_t(field.key.text.size()) + 12;
  }
  if (fields.empty())
    return std::nullopt;
  Piece record = single(match.scrutinee, width);
  auto* with = make<surface::With>();
  with->operand = record.expr;
  with->fields = arena_.copy(fields);
  return Piece{with, record.width + width};
}

Piece PieceMaker::match(const lang::Match& match) {
  if (auto form = match.arms.empty() ? std::nullopt : recordForm(match))
    return *form;
  auto* made = make<surface::Match>();
  made->isPartial = match.isPartial;
  made->scrutinee = single(match.scrutinee, 10).expr;
  std::vector<surface::Arm> arms;
  for (const lang::Arm& arm : match.arms)
    arms.push_back({pattern(*arm.pattern), bodies_.at(arm.body), nullptr});
  made->arms = arena_.copy(arms);
  return {made, brokenWidth, false, true};
}

Piece PieceMaker::lambda(const lang::Function& function) {
  auto* made = make<surface::FunctionLiteral>();
  made->function = this->function(function, false);
  return {made, brokenWidth};
}

const surface::Pattern* PieceMaker::pattern(const lang::Pattern& pattern) {
  std::vector<const surface::Pattern*> parts;
  for (const lang::Pattern* part : pattern.parts)
    parts.push_back(this->pattern(*part));
  switch (pattern.kind) {
  case lang::PatternKind::Wildcard:
    break;
  case lang::PatternKind::Var: {
    auto* made = make<surface::LocalPattern>();
    made->name = {nameOf(*pattern.var), {}};
    made->type = writtenType(pattern.var->annotation, nullptr);
    return made;
  }
  case lang::PatternKind::Constructor: {
    auto* made = make<surface::ConstructorPattern>();
    made->name = {arena_.copyText(pattern.constructor->name), {}};
    made->fields = arena_.copy(parts);
    return made;
  }
  case lang::PatternKind::Tuple: {
    auto* made = make<surface::TuplePattern>();
    made->fields = arena_.copy(parts);
    return made;
  }
  }
  return make<surface::WildcardPattern>();
}

// Functions.

/// The name of a variable, given when it is asked for the first time.
std::string_view PieceMaker::nameOf(const lang::Var& var) {
  if (locals_.isBound(var))
    return locals_.of(var);
  bool isConstructor = shared_.names.isConstructor(var.name);
  return var.name.empty()
             ? locals_.number(arena_, var)
             : locals_.bind(arena_, var, std::string(var.name) + (isConstructor ? "_" : ""));
}

const surface::Type* PieceMaker::writtenType(const lang::Type* declared,
                                             const lang::Type* inferred) {
  bool isInferred = shared_.showsTypes && shared_.facts.isShown(inferred);
  const lang::Type* type = isInferred ? inferred : declared;
  return type && !type->isUnknown() && !type->isError() ? typeTree(arena_, *type) : nullptr;
}

const lang::Type* PieceMaker::inferredType(const lang::Var& var) const {
  return shared_.typing ? shared_.typing->of(var) : nullptr;
}

const surface::Function* PieceMaker::function(const lang::Function& function, bool isDefinition) {
  auto* made = arena_.make<surface::Function>();
  made->generics = genericNames(arena_, shared_.showsTypes ? shared_.typing->generics(function)
                                                           : function.generics);
  std::vector<surface::Parameter> parameters;
  for (const lang::Var* var : function.parameters) {
    surface::Parameter parameter{{nameOf(*var), {}}};
    parameter.type = writtenType(var->annotation, inferredType(*var));
    if (!parameter.type && isDefinition && !function.mayBeOpen)
      parameter.type = make<surface::HoleType>();
    if (var->device)
      parameter.attributes = namedAttributes(
          arena_.copy(std::vector{lang::NamedAttribute{"virtual_device", *var->device}}));
    parameters.push_back(parameter);
  }
  made->parameters = arena_.copy(parameters);
  made->attributes = namedAttributes(function.attributes);
  made->result = writtenType(function.resultAnnotation,
                             shared_.typing ? shared_.typing->result(function) : nullptr);
  made->body = bodies_.at(function.body);
  return made;
}

} // namespace parser::restoring
