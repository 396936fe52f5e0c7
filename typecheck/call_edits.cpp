// What is called has its places in the text by ranges alone, so an edit puts text around or copies
// what is there. That a change helps was found for types; whether the program takes it, such as a
// name that is out of scope, is tried before it is shown.
#include "typecheck/call_edits.h"

#include "lang/ir/module.h"
#include "lang/op/named_arguments.h"
#include "lang/op/op.h"
#include "lang/print/literals.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace typecheck {

using lang::CallChange;
using lang::Edit;
using lang::SourceRange;

namespace {

using Edits = std::optional<std::vector<Edit>>;

Edits attributeEdit(const CallChange& change, const CallPlaces& call) {
  const auto& rows = call.attributes.rows;
  size_t i = size_t(std::ranges::find(rows, change.name, &lang::AttributeRow::name) - rows.begin());
  lang::Words text = lang::words("{}={}", change.name, change.text);
  if (i < call.attributes.places.size() && call.attributes.places[i].isValid())
    return std::vector{Edit{call.attributes.places[i], text}};
  if (!call.range.isValid())
    return std::nullopt;
  auto isGiven = [](SourceRange place) { return place.isValid(); };
  bool isFirst = call.operands.empty() && std::ranges::none_of(call.attributes.places, isGiven);
  uint32_t end = call.range.end - 1;
  return std::vector{Edit{{end, end}, lang::words("{}{}", isFirst ? "" : ", ", text)}};
}

/// The expression that made an operand.
const lang::Expr* makerOf(const lang::Operand& operand, Definitions definitions) {
  const auto* var = operand.value->as<lang::Var>();
  const lang::Expr* made =
      var && var->number < definitions.size() ? definitions[var->number] : nullptr;
  return made ? made : operand.value;
}

/// The operand that a change speaks of, or the field of it; null when the text has none.
const lang::Operand* placeOf(const CallChange& change, const CallPlaces& call) {
  if (change.operand >= call.operands.size())
    return nullptr;
  const lang::Operand* operand = call.operands[change.operand];
  if (!change.field)
    return operand;
  const auto* tuple = makerOf(*operand, call.definitions)->as<lang::TupleExpr>();
  return tuple && *change.field < tuple->fields.size() ? &tuple->fields[*change.field] : nullptr;
}

Edits wrapEdit(const CallChange& change, const CallPlaces& call) {
  const lang::Operand* place = placeOf(change, call);
  // Nobody writes a tuple to take a field of it.
  bool takesField = change.after.plain().starts_with('.');
  if (!place || (takesField && makerOf(*place, call.definitions)->as<lang::TupleExpr>()))
    return std::nullopt;
  SourceRange range = place->range;
  return std::vector{Edit{{range.begin, range.begin}, change.text},
                     Edit{{range.end, range.end}, change.after}};
}

/// Another call of what an operand is a call of may undo that, so it may as well not be there.
std::optional<lang::Suggestion> unwrapped(const CallChange& change, const CallPlaces& call) {
  const lang::Operand* place = placeOf(change, call);
  const auto* made = place ? makerOf(*place, call.definitions)->as<lang::Call>() : nullptr;
  const auto* op = made ? made->callee.value->as<lang::OperatorRef>() : nullptr;
  if (!op || made->arguments.empty() || change.text.plain() != fmt::format("{}(", op->row->name))
    return std::nullopt;
  return lang::Suggestion{fmt::format("leave out the `{}`: {{}}", op->row->name),
                          {{place->range, {}, made->arguments[0].range}}};
}

Edits swapEdits(const CallChange& change, const CallPlaces& call) {
  SourceRange first = call.operands[change.operand - 1]->range;
  SourceRange second = call.operands[change.operand]->range;
  return std::vector{Edit{first, {}, second}, Edit{second, {}, first}};
}

std::optional<std::string> wholeText(double value) {
  bool isWhole = value == double(int64_t(value)) && value > -1e15 && value < 1e15;
  return isWhole ? std::optional(std::to_string(int64_t(value))) : std::nullopt;
}

/// A number as one of another element type, when that has it.
std::optional<std::string> numberText(const lang::Constant& constant, runtime::DType wanted) {
  runtime::Tensor tensor = lang::constantTensor(constant);
  bool isNumber = tensor.dtype() == runtime::Int32 || tensor.dtype() == runtime::Int64 ||
                  tensor.dtype() == runtime::Float32 || tensor.dtype() == runtime::Float64;
  if (tensor.rank() != 0 || !isNumber || wanted.lanes != 1)
    return std::nullopt;
  double value = tensor.dtype() == runtime::Int32     ? double(tensor.elements<int32_t>()[0])
                 : tensor.dtype() == runtime::Int64   ? double(tensor.elements<int64_t>()[0])
                 : tensor.dtype() == runtime::Float32 ? double(tensor.elements<float>()[0])
                                                      : tensor.elements<double>()[0];
  int bits = tensor.dtype() == runtime::Float32 ? 32 : 64;
  bool isWritten = wanted.bits == 16 || wanted.bits == 32 || wanted.bits == 64;
  if (wanted.isFloat() && isWritten) {
    std::string text = lang::printing::floatLiteral(value, bits);
    text.resize(text.find('f'));
    return text + (wanted.bits == 32 ? "f" : fmt::format("f{}", wanted.bits));
  }
  auto whole = wholeText(value);
  if (!whole || !wanted.isInteger() || !wanted.isSigned() || !isWritten)
    return std::nullopt;
  return wanted.bits == 32 ? *whole : fmt::format("{}i{}", *whole, wanted.bits);
}

Edits numberEdit(const lang::Operand& operand, runtime::DType wanted) {
  const auto* constant = operand.value->as<lang::Constant>();
  // An open number would have taken the type if it could.
  bool isFixed = constant && constant->open == lang::OpenNumber::None;
  auto text = isFixed ? numberText(*constant, wanted) : std::nullopt;
  if (!text)
    return std::nullopt;
  return std::vector{Edit{operand.range, *text}};
}

Edits editsOf(const CallChange& change, const CallPlaces& call) {
  switch (change.kind) {
  case CallChange::Kind::Attribute:
    return attributeEdit(change, call);
  case CallChange::Kind::Wrap:
    return wrapEdit(change, call);
  case CallChange::Kind::Swap:
    return swapEdits(change, call);
  case CallChange::Kind::Number:
    if (auto wanted = runtime::parseDType(change.name))
      return numberEdit(*call.operands[change.operand], *wanted);
  }
  return std::nullopt;
}

lang::ArgumentForm formOf(const lang::Operand& argument, Definitions definitions) {
  using lang::ArgumentForm;
  auto isInt = [](const lang::Operand& field) {
    const auto* constant = field.value->as<lang::Constant>();
    return constant && !constant->tensor && constant->type->dtype == runtime::Int32;
  };
  const auto* var = argument.value->as<lang::Var>();
  if (var && !var->name.empty())
    return ArgumentForm::Other;
  const lang::Expr* made = makerOf(argument, definitions);
  if (const auto* tuple = made->as<lang::TupleExpr>())
    return std::ranges::all_of(tuple->fields, isInt) ? ArgumentForm::IntTuple : ArgumentForm::Other;
  const auto* constant = made->as<lang::Constant>();
  if (!constant)
    return ArgumentForm::Other;
  runtime::Tensor tensor = lang::constantTensor(*constant);
  if (tensor.dtype() == runtime::Bool)
    return ArgumentForm::Bool;
  if (tensor.dtype().isFloat())
    return tensor.rank() == 0 ? ArgumentForm::Float : ArgumentForm::Other;
  return tensor.rank() == 0   ? ArgumentForm::Int
         : tensor.rank() == 1 ? ArgumentForm::IntList
         : tensor.rank() == 2 ? ArgumentForm::IntListList
                              : ArgumentForm::Other;
}

} // namespace

/// A local by its name, anything else by its role.
static lang::Words operandName(const lang::Operand& operand, std::string_view role) {
  const auto* var = operand.value->as<lang::Var>();
  return var && !var->name.empty() ? lang::localName(var->name) : role;
}

void addFix(lang::Diagnostic& report, const lang::CallFix& fix, const lang::OperatorRow& row,
            const CallPlaces& call) {
  if (fix.changes.empty()) {
    report.note(!fix.about ? fix.text
                           : lang::words("`{}` {}",
                                         operandName(*call.operands[*fix.about],
                                                     row.operand(*fix.about).name),
                                         fix.text));
    return;
  }
  lang::Suggestion suggestion{fix.text, {}, {}, fix.isFallback, fix.isFact};
  for (const CallChange& change : fix.changes) {
    auto edits = editsOf(change, call);
    if (!edits)
      return;
    suggestion.edits.insert(suggestion.edits.end(), edits->begin(), edits->end());
  }
  bool isWrap = fix.changes.size() == 1 && fix.changes[0].kind == CallChange::Kind::Wrap;
  if (auto without = isWrap ? unwrapped(fix.changes[0], call) : std::nullopt) {
    without->isFallback = fix.isFallback;
    report.suggest(*without);
    suggestion.isFallback = true;
  }
  report.suggest(std::move(suggestion));
}

void suggestNames(lang::Diagnostic& report, const lang::OperatorRow& row, const lang::Call& call,
                  Definitions definitions) {
  lang::SourceRange first = call.arguments.front().range, last = call.arguments.back().range;
  if (row.operands.size() == 1 && row.operands[0].kind == lang::OperandKind::TensorTuple)
    report.suggest({"the tensors are one tuple: {}",
                    {{{first.begin, first.begin}, "("}, {{last.end, last.end}, ")"}}});
  std::vector<lang::ExtraArgument> extra;
  for (const lang::Operand& argument : call.arguments.subspan(row.operands.size()))
    extra.push_back({argument.range, formOf(argument, definitions)});
  std::vector<bool> given(row.attributes.size());
  for (size_t i = 0; call.attributes && i < call.attributes->places.size(); ++i)
    given[i] = call.attributes->places[i].isValid();
  for (lang::Suggestion& suggestion : lang::namedArguments(row, given, extra, call.range.end - 1))
    report.suggest(std::move(suggestion));
}

void suggestSecondCall(lang::Diagnostic& report, const lang::Call& call) {
  SourceRange function = call.arguments[0].range, next = call.arguments[1].range;
  report.suggest({"what it gives is a function, which takes the others: {}",
                  {{{function.end, next.begin}, ")("}},
                  call.range,
                  !report.suggestions.empty()});
}

void suggestFunctionItself(lang::Diagnostic& report, const CallPlaces& call) {
  const auto* made = makerOf(*call.operands[0], call.definitions)->as<lang::Call>();
  SourceRange operand = call.operands[0]->range;
  if (!made || made->range != operand || made->callee.range.end > operand.end)
    return;
  SourceRange arguments{made->callee.range.end, operand.end};
  uint32_t end = call.range.end;
  report.suggest({"the function itself is wanted, and what comes of it takes the arguments: {}",
                  {{arguments, ""}, {{end, end}, {}, arguments}},
                  call.range});
}

void suggestFunctionOf(lang::Diagnostic& report, lang::SourceRange operand,
                       const lang::Type& wanted, const lang::Type& given) {
  if (given.kind != lang::TypeKind::Operator || wanted.kind == lang::TypeKind::Tensor)
    return;
  std::vector<std::string> names;
  for (const lang::OperandRow& row : given.op->operands)
    names.push_back(fmt::format("%{}", row.name));
  std::string list = fmt::format("{}", fmt::join(names, ", "));
  report.suggest({"a function calls it: {}",
                  {{operand, fmt::format("fn ({}) {{ {}({}) }}", list, given.opName, list)}}});
}

void suggestSwap(lang::Diagnostic& report, const lang::Call& call, size_t first, size_t second) {
  SourceRange one = call.arguments[first].range, other = call.arguments[second].range;
  report.suggest({"the arguments fit the other way round: {}",
                  {{one, {}, other}, {other, {}, one}},
                  call.range});
}

void suggestNumber(lang::Diagnostic& report, const lang::Operand& operand,
                   const lang::Type* wanted) {
  auto edits = wanted->isTensor() ? numberEdit(operand, wanted->dtype) : std::nullopt;
  if (edits)
    report.suggest({"write {}", *edits});
}

} // namespace typecheck
