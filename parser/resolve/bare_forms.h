// What only Baton's notation has, as graphs of what both notations have: names without sigils,
// calls with names and placeholders, pipes, lets that take apart.
#pragma once

#include "parser/resolve/resolve_context.h"

#include <functional>

namespace parser {

/// What a name means: the nearest local, a definition of the text, an operator, plain or of `nn`,
/// or a definition of the prelude. Null where it means nothing, without a report.
const lang::Expr* findBareName(ResolveContext& context, std::string_view name,
                               lang::SourceRange range);

/// As above for a name or for what dots join to one, `nn.dense`; null for anything else.
const lang::Expr* findCallee(ResolveContext& context, const surface::Expr* expr);

/// Whether dots join words to the name of a definition that is imported, `optim.adam`, or to what
/// can only be an operator's name, as `nn.dense`.
bool isJoinedName(const ResolveContext& context, const surface::Expr* expr);
/// What it names as a value, reported when that is nothing.
Use buildJoinedName(ResolveContext& context, const surface::Expr* expr);

enum class MemberKind : uint8_t { Value, Type, Constructor };

/// Says of a name with a dot that the text which is imported under what stands in front of it does
/// not define it, unless that text could not be had. False for any other name, without a report.
bool reportUnknownMember(ResolveContext& context, std::string_view name, lang::SourceRange range,
                         MemberKind kind);

/// An expression of a unit where no local is in scope, which `name` at `range` stands for.
Use buildApart(ResolveContext& context, const Unit& unit, const surface::Expr* expr,
               std::string_view name, lang::SourceRange range);

/// The value of a constant of a unit.
Use buildModuleConstant(ResolveContext& context, const Unit& unit,
                        const surface::ConstantDefinition& constant, lang::SourceRange range);

/// The constant of that name, `d` or `config.d`, of a unit, if it is a whole number.
std::optional<int64_t> wholeConstant(const Unit& unit, std::string_view name);

/// A definition of a unit, without those of the prelude; null when there is none.
const lang::Expr* findOwn(ResolveContext& context, const Unit& unit, std::string_view name);

/// What a name means as a value: a constructor without fields is a call of it.
Use buildFound(ResolveContext& context, const lang::Expr* found, lang::SourceRange range);
/// A hole in place of what was reported.
Use buildUnknown(ResolveContext& context, lang::SourceRange range);
/// The same, with a report that nothing has that name.
Use unknownName(ResolveContext& context, std::string_view name, lang::SourceRange range);

/// `lazy name = value;`: the name stands for the value's node.
void bindShared(ResolveContext& context, const surface::Item& item);

/// A name as a value, reported when it means nothing.
Use buildBareName(ResolveContext& context, std::string_view name, lang::SourceRange range);

/// The size that a name means where no local hides it; null when it means none.
const lang::Dim* findSize(const ResolveContext& context, std::string_view name);

/// `p.w`, whose left side has been built.
Use buildField(ResolveContext& context, Use record, const surface::Field& field);

/// A call whose callee is a name, or what dots join to one.
Use buildBareCall(ResolveContext& context, const surface::Call& call);
/// A call of a value.
Use buildValueCall(ResolveContext& context, Use callee, const surface::Call& call);
/// `left |> right`.
Use buildPipe(ResolveContext& context, Use left, const surface::Infix& pipe);

Use buildPrefix(ResolveContext& context, const surface::Prefix& prefix);
/// `left && right`, `left || right`, of which the right side is looked at only where it counts.
Use buildLogic(ResolveContext& context, Use left, const surface::Infix& infix);
/// A call of an operator with attributes that `setting` tells, null for defaults.
Use buildOperator(ResolveContext& context, const lang::OperatorRow& row, lang::SourceRange range,
                  lang::SourceRange opRange, std::vector<Use> operands,
                  const std::function<const lang::AttributeValue*(std::string_view)>& setting = {});
/// `value == literal`, and `left && right` of two conditions that have been built.
Use buildEquality(ResolveContext& context, Use value, const surface::Expr* literal);
Use buildBoth(ResolveContext& context, Use left, Use right, lang::SourceRange range);
/// `x[0, 1:, ..]`, whose left side has been built.
Use buildIndex(ResolveContext& context, Use tensor, const surface::Index& index);
/// `p with (w = e)`, whose left side has been built.
Use buildWith(ResolveContext& context, Use record, const surface::With& with);
/// Whether a match has guards, literals or alternatives.
bool hasBareArms(const surface::Match& match);
Use buildBareMatch(ResolveContext& context, const surface::Match& match);
// Nodes of what has been built (bare_nodes.cpp).

/// An operator as an atom.
const lang::Expr* operatorAtom(ResolveContext& context, const lang::OperatorRow& row,
                               lang::SourceRange range);
Use tupleOf(ResolveContext& context, std::span<const Use> fields, lang::SourceRange range);
/// What brackets around values make: a tensor of one more dimension.
Use stackOf(ResolveContext& context, std::span<const Use> elements, lang::SourceRange range);
/// A value that is bound by a let, which gives it a place of its own and may declare its type.
Use boundBy(ResolveContext& context, const lang::Var* var, Use value, lang::SourceRange range);
/// The edit by which a text of the library is imported; nothing where that has none of the name.
std::optional<lang::Edit> importOf(const ResolveContext& context, std::string_view name);
/// Suggests an import in front of all else where a text of the library has that name.
void suggestImport(ResolveContext& context, lang::Diagnostic& report, std::string_view name);
/// A value behind lets, if there are any.
Use behindLets(ResolveContext& context, const std::vector<LetItem>& items, Use result,
               lang::SourceRange range);

Use buildTupleOf(ResolveContext& context, std::span<const surface::Expr* const> elements,
                 lang::SourceRange range);
/// `[a, b]` of other than numbers: a tensor of one more dimension.
Use buildStack(ResolveContext& context, const surface::TensorLiteral& literal);

/// What has a name and is no definition: `list`, `print` and `fail`.
enum class BareForm : uint8_t { None, List, Print, Fail };

/// The form that a name stands for: a definition of that name would hide it.
BareForm formNamed(const ResolveContext& context, std::string_view name);
/// The form that a callee stands for: a local would hide it as well.
BareForm formCalled(const ResolveContext& context, const surface::Expr* callee);

/// What is printed: texts and values, as an operator shows them.
class PrintedArguments {
public:
  explicit PrintedArguments(ResolveContext& context) : context_(context) {}

  /// A text, in which `{}` is a place for a value behind it, and `{x}` one for `x`.
  void text(const surface::TextLiteral& text);
  void value(Use use);
  /// The call, which gives the last value.
  Use build(lang::SourceRange range, lang::SourceRange callee);

private:
  void place(std::string_view inside, lang::SourceRange text);
  bool reportEmpty();

  ResolveContext& context_;
  std::string label_;
  /// A place, and what takes it: nothing as long as that is open.
  struct Place {
    std::optional<Use> value;
    lang::SourceRange text;
  };
  std::vector<Place> places_;
};

/// `fail("why")`, which is of any type.
Use buildFailure(ResolveContext& context, const surface::Call& call);

/// `list(a, b)`, whose elements have been built.
Use buildList(ResolveContext& context, std::span<const Use> elements, lang::SourceRange range,
              lang::SourceRange callee);
const lang::Pattern* listPattern(ResolveContext& context,
                                 std::span<const lang::Pattern* const> elements,
                                 lang::SourceRange range);

/// The lets of `let pattern = value`.
void buildPatternLets(ResolveContext& context, const surface::Item& item,
                      std::vector<LetItem>& items);
/// The lets of the patterns that stand in place of names of parameters.
std::vector<LetItem> buildParameterLets(ResolveContext& context, const surface::Function& function,
                                        const lang::Function& head);
/// The name of a parameter; one that is taken apart gets one that none of the others has.
std::string_view parameterName(ResolveContext& context, std::span<const surface::Parameter> list,
                               size_t index);

/// The patterns of a constructor's fields in their order; null for those that a pattern by names
/// leaves out.
std::vector<const surface::Pattern*> fieldPatterns(ResolveContext& context,
                                                   const surface::ConstructorPattern& pattern,
                                                   const lang::Constructor& constructor);

/// An attribute that a call gives by its name or position.
struct GivenAttribute {
  surface::Identifier name;
  const surface::Expr* value;
  lang::SourceRange range;
};

// Attributes that are computed (bare_attributes.cpp).

/// The number that a name of a constant stands for; null for any other name.
const surface::Expr* literalConstant(ResolveContext& context, const surface::Name& name);
/// A number as an int64 that counts something, whatever it is by other uses.
Use buildCount(ResolveContext& context, const surface::Expr* expr);
/// Leaves something of a call to types (lang/ir/open_marks.h).
void mark(ResolveContext& context, Node& call, std::string_view what, std::string_view of = {});
/// Binds a call whose shape is computed by a let, whose type is declared when it is known; and
/// takes such a let away from a value that is bound by another one.
Use bindSized(ResolveContext& context, Node* call);
Use withoutSizedLet(ResolveContext& context, Use value);
/// The first attribute that is no literal; null where all are.
const GivenAttribute* findComputed(ResolveContext& context, const lang::OperatorRow& row,
                                   std::span<const GivenAttribute> given);
/// What an attribute gives, as an operand.
Use buildAttributeOperand(ResolveContext& context, const lang::OperatorRow& row,
                          const GivenAttribute& given);
/// Makes operands of `computing` of the attributes of `row` that it takes so; false after a report.
bool computeAttributes(ResolveContext& context, const lang::OperatorRow& row,
                       const lang::OperatorRow& computing, std::vector<Use>& operands,
                       std::vector<GivenAttribute>& given);
/// Whether the element type of the result is left to its use.
bool leavesElementToUse(const lang::OperatorRow& row, std::span<const GivenAttribute> given);

/// The attributes of a call of `row`, defaults filled in; null after a report. `later` are those
/// that are found out later.
const lang::Attributes* buildGivenAttributes(ResolveContext& context, const lang::OperatorRow& row,
                                             std::span<const GivenAttribute> given,
                                             lang::SourceRange call,
                                             std::span<const std::string_view> later = {});

} // namespace parser
