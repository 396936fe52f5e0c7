// What is called by its own name in another library may be called so here, or otherwise: operators
// know their other names (lang/op/other_names.h).
#include "parser/resolve/foreign_calls.h"

#include "lang/ir/module.h"
#include "lang/op/op.h"
#include "lang/op/other_names.h"
#include "parser/resolve/bare_forms.h"
#include "parser/resolve/name_hints.h"
#include "parser/surface/foreign_words.h"
#include "runtime/short_names.h"

#include <algorithm>

namespace parser {

using lang::Edit;
using lang::Message;
using lang::SourceRange;

namespace {

/// More than names of other libraries have; a chain of fields may be long.
constexpr size_t mostParts = 8;

SourceRange emptyAt(uint32_t place) {
  return {place, place};
}

std::string_view lastPart(std::string_view name) {
  return name.substr(name.rfind('.') + 1);
}

/// A form with `x` for its argument.
std::string formText(std::string_view form) {
  size_t mark = form.find('$');
  return fmt::format("{}x{}", form.substr(0, mark), form.substr(mark + 1));
}

/// The text around an argument, in place of what stands around it from `all`.
std::vector<Edit> formEdits(std::string_view form, SourceRange all, SourceRange argument) {
  size_t mark = form.find('$');
  return {{{all.begin, argument.begin}, std::string(form.substr(0, mark))},
          {{argument.end, all.end}, std::string(form.substr(mark + 1))}};
}

/// What a name of another library is here: the operators and functions that it may be.
std::vector<std::string> meaningsOf(ResolveContext& context, std::string_view name) {
  std::vector<std::string> found;
  if (findBareName(context, name, {}))
    found.emplace_back(name);
  for (std::string_view other : operatorsCalled(context.environment.operators, name).names) {
    bool isOfNetworks = other.starts_with("nn.");
    if (std::string_view brief = isOfNetworks ? other.substr(3) : other;
        std::ranges::count(found, brief) == 0 && !other.starts_with("dyn."))
      found.emplace_back(brief);
  }
  return found;
}

bool reportLibrary(ResolveContext& context, std::string_view name, SourceRange range) {
  std::string_view root = name.substr(0, name.find('.'));
  std::string_view last = lastPart(name);
  if (root.size() == name.size() || !isForeignLibrary(root))
    return false;
  if (const ForeignWord* known = foreignDefinition(last)) {
    auto& report = context.diagnostics.report(Message::ForeignForm, range, known->says);
    if (known->ours == name)
      suggestImport(context, report, root);
    return true;
  }
  if (const auto dtype = runtime::parseDType(last)) {
    context.diagnostics
        .report(Message::ForeignForm, range,
                fmt::format("`{}` is written `{}`", name, runtime::shortDTypeName(*dtype)))
        .suggest({"write {}", {{range, runtime::shortDTypeName(*dtype)}}});
    return true;
  }
  std::vector<std::string> meanings = meaningsOf(context, last);
  std::string says =
      meanings.size() == 1
          ? fmt::format("`{}` is written `{}`", name, meanings[0])
          : fmt::format("`{}` is no name here: operators are called by names of their own", root);
  auto& report = context.diagnostics.report(Message::ForeignForm, range, says);
  for (const std::string& meaning : meanings)
    report.suggest({"write {}", {{range, meaning}}});
  return true;
}

/// How `f` of a method is called with what it is called on and its arguments, each in its way.
lang::FieldHint methodHint(ResolveContext& context, const surface::Call& call,
                           const surface::Field& field) {
  lang::FieldHint hint;
  SourceRange on = field.operand->range;
  bool isAlone = call.arguments.empty() && call.attributes.empty();
  uint32_t close = call.range.end - 1;
  uint32_t first =
      isAlone ? close
              : std::min(call.arguments.empty() ? close : call.arguments[0]->range.begin,
                         call.attributes.empty() ? close : call.attributes[0].key.range.begin);
  auto suggest = [&](std::string_view name, bool isList) {
    std::vector<Edit> edits{{emptyAt(on.begin), fmt::format("{}(", name)},
                            {{on.end, first},
                             isAlone  ? ""
                             : isList ? ", ["
                                      : ", "}};
    if (isList)
      edits.push_back({emptyAt(call.arguments.back()->range.end), "]"});
    hint.suggestions.push_back({"write {}", std::move(edits), call.range, isList});
  };
  if (isAlone)
    for (std::string_view form : lang::formsElsewhere(field.name.text)) {
      if (hint.says.empty())
        hint.says = fmt::format("`x.{}()` is written `{}`", field.name.text, formText(form));
      hint.suggestions.push_back({"write {}", formEdits(form, call.range, on)});
    }
  std::vector<std::string> meanings;
  if (hint.says.empty())
    meanings = meaningsOf(context, field.name.text);
  for (const std::string& name : meanings) {
    if (hint.says.empty())
      hint.says = fmt::format("`x.{}({})` is written `{}(x{})`", field.name.text,
                              isAlone ? "" : "...", name, isAlone ? "" : ", ...");
    suggest(name, false);
    if (call.attributes.empty() && !call.arguments.empty())
      suggest(name, true);
  }
  return hint;
}

const lang::FieldHint* kept(ResolveContext& context, lang::FieldHint hint) {
  if (hint.says.empty())
    return nullptr;
  context.module.fieldHints.push_back(std::move(hint));
  return &context.module.fieldHints.back();
}

/// The element type that is the only argument of a call, if it is one.
std::optional<std::string> onlyDType(const ResolveContext& context, const surface::Call& call) {
  if (call.arguments.size() != 1 || !call.attributes.empty())
    return std::nullopt;
  const auto* name = surface::tryAs<surface::Name>(call.arguments[0]);
  const auto* member = surface::tryAs<surface::Field>(call.arguments[0]);
  std::string_view text = name ? name->name : member ? member->name.text : std::string_view();
  if (context.locals.find(text))
    return std::nullopt;
  auto dtype = runtime::parseShortDType(text);
  if (!dtype)
    dtype = runtime::parseDType(text);
  return dtype ? std::optional(runtime::shortDTypeName(*dtype)) : std::nullopt;
}

} // namespace

bool isOfForeignLibrary(const ResolveContext& context, const surface::Expr* expr) {
  const auto* field = surface::tryAs<surface::Field>(expr);
  for (size_t i = 0; i < mostParts && field && surface::tryAs<surface::Field>(field->operand); ++i)
    field = surface::tryAs<surface::Field>(field->operand);
  const auto* root = field ? surface::tryAs<surface::Name>(field->operand) : nullptr;
  if (!root || !isForeignLibrary(root->name) || context.locals.find(root->name))
    return false;
  const Unit& unit = *context.unit;
  return !unit.imports.contains(root->name) && !unit.globals.contains(root->name) &&
         !unit.constants.contains(root->name) && !unit.constructors.contains(root->name);
}

bool reportForeignName(ResolveContext& context, std::string_view name, SourceRange range) {
  if (reportLibrary(context, name, range))
    return true;
  if (const auto dtype = runtime::parseShortDType(name)) {
    context.diagnostics.report(
        Message::ForeignForm, range,
        fmt::format(
            "`{}` is an element type, and no value: `cast(x, dtype = {})` makes such elements",
            name, runtime::shortDTypeName(*dtype)));
    return true;
  }
  const ForeignWord* word = foreignWord(name);
  word = word ? word : foreignDefinition(name);
  if (!word || !operatorsCalled(context.environment.operators, name).names.empty())
    return false;
  auto& report = context.diagnostics.report(Message::ForeignForm, range, word->says);
  if (word->ours.empty())
    return true;
  lang::Suggestion change{"write {}", {{range, std::string(word->ours)}}, range};
  std::string_view library = word->ours.substr(0, word->ours.find('.'));
  if (library.size() < word->ours.size() && !context.unit->imports.contains(library))
    if (auto import = importOf(context, library)) {
      change.text = fmt::format("behind `import {}` write {{}}", library);
      change.edits.insert(change.edits.begin(), *import);
    }
  report.suggest(std::move(change));
  return true;
}

bool reportForeignCall(ResolveContext& context, const surface::Call& call) {
  const auto* name = surface::tryAs<surface::Name>(call.callee);
  if (!name || call.arguments.size() != 1 || !call.attributes.empty())
    return false;
  std::vector<std::string_view> forms = lang::formsElsewhere(name->name);
  if (forms.empty())
    return false;
  auto& report = context.diagnostics.report(
      Message::ForeignForm, name->range,
      fmt::format("`{}(x)` is written `{}`", name->name, formText(forms[0])));
  for (std::string_view form : forms)
    report.suggest({"write {}", formEdits(form, call.range, call.arguments[0]->range)});
  return true;
}

bool reportForeignMethod(ResolveContext& context, const surface::Call& call) {
  const auto* field = surface::tryAs<surface::Field>(call.callee);
  if (!field || isJoinedName(context, field))
    return false;
  SourceRange behind{call.callee->range.end, call.range.end};
  if (field->name.text == "T" && call.arguments.empty() && call.attributes.empty()) {
    context.diagnostics
        .report(Message::ForeignForm, lang::cover(field->name.range, behind),
                "the transposed tensor is `x.T`, without parentheses")
        .suggest({"write {}", {{behind, ""}}, call.range});
    return true;
  }
  auto dtype = onlyDType(context, call);
  if (!dtype)
    return false;
  std::string form = fmt::format("cast($, dtype = {})", *dtype);
  context.diagnostics
      .report(Message::ForeignForm, field->name.range,
              fmt::format("another element type is made by `{}`", formText(form)))
      .suggest({"write {}", formEdits(form, call.range, field->operand->range)});
  return true;
}

const lang::FieldHint* hintOfMethod(ResolveContext& context, const surface::Call& call) {
  const auto* field = surface::tryAs<surface::Field>(call.callee);
  if (!field || !wantsHints(context))
    return nullptr;
  lang::FieldHint hint = methodHint(context, call, *field);
  if (const ForeignWord* word = hint.says.empty() ? foreignMember(field->name.text) : nullptr) {
    hint.says = word->says;
    if (call.arguments.empty() && !word->ours.empty())
      hint.suggestions = {{"leave it out", {{{field->operand->range.end, call.range.end}, ""}}}};
  }
  if (hint.says.empty() && !call.attributes.empty())
    hint.says = "functions are called as in `f(x)`";
  return kept(context, std::move(hint));
}

const lang::FieldHint* hintOfShape(ResolveContext& context, const surface::Index& index) {
  const auto* field = surface::tryAs<surface::Field>(index.operand);
  bool isSize = field && field->name.text == "shape" && index.subscripts.size() == 1 &&
                index.subscripts[0].kind == surface::SubscriptKind::At;
  if (!isSize)
    return nullptr;
  SourceRange at = index.subscripts[0].range, on = field->operand->range;
  return kept(context,
              {"`x.shape[i]` is written `size(x, i)`, and the sizes that types name are numbers",
               {{"write {}",
                 {{emptyAt(on.begin), "size("},
                  {{on.end, at.begin}, ", "},
                  {{at.end, index.range.end}, ")"}},
                 index.range}}});
}

const lang::FieldHint* hintOfField(ResolveContext& context, const surface::Field& field) {
  if (!wantsHints(context))
    return nullptr;
  if (const ForeignWord* word = foreignMember(field.name.text))
    return kept(context, {std::string(word->says), {}});
  lang::FieldHint hint;
  constexpr std::string_view ofTensors = "shape ndim real numel";
  if (isAmong(field.name.text, ofTensors))
    for (const std::string& name : meaningsOf(context, field.name.text)) {
      if (hint.says.empty())
        hint.says = fmt::format("`x.{}` is written `{}(x)`", field.name.text, name);
      hint.suggestions.push_back({"write {}",
                                  {{emptyAt(field.operand->range.begin), name + "("},
                                   {{field.operand->range.end, field.range.end}, ")"}}});
    }
  return kept(context, std::move(hint));
}

bool reportForeignType(ResolveContext& context, const surface::NamedType& type) {
  const ForeignWord* word = foreignType(type.name);
  if (!word)
    return false;
  auto& report = context.diagnostics.report(Message::ForeignForm, type.range, word->says);
  SourceRange name{type.range.begin, type.range.begin + uint32_t(type.name.size())};
  if (!word->ours.empty())
    report.suggest({"write {}", {{name, std::string(word->ours)}}, type.range});
  const auto* element = type.arguments.empty() || !word->ours.empty()
                            ? nullptr
                            : surface::tryAs<surface::NamedType>(type.arguments[0]);
  if (!element)
    return true;
  bool isScalar = type.arguments.size() == 1;
  SourceRange mark = element->range;
  uint32_t next = isScalar ? type.range.end : type.arguments[1]->range.begin;
  report.suggest({"write {}",
                  {{{type.range.begin, mark.begin}, ""}, {{mark.end, next}, isScalar ? "" : "["}},
                  type.range});
  return true;
}

bool reportNewDimension(ResolveContext& context, const surface::Index& index, size_t place) {
  const surface::Subscript& subscript = index.subscripts[place];
  const auto* member = subscript.kind == surface::SubscriptKind::At
                           ? surface::tryAs<surface::Field>(subscript.begin)
                           : nullptr;
  if (!member || !isOfForeignLibrary(context, member) || member->name.text != "newaxis")
    return false;
  context.diagnostics
      .report(Message::ForeignForm, subscript.range, "a dimension of size 1 is made by `None`")
      .suggest({"write {}", {{subscript.range, "None"}}});
  return true;
}

} // namespace parser
