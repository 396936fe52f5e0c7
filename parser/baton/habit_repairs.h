// What is made of a habit of another language: edits of the text around it. All are guesses, which
// are tried before they are shown.
#pragma once

#include "parser/baton/mistake_text.h"

namespace parser::baton {

/// A row's habit where it was found: the word that leads to it, and what does not fit.
struct HabitPlace {
  const MistakeText& text;
  lang::SourceRange lead;
  lang::SourceRange found;
};

using Edits = std::vector<lang::Edit>;
/// Edits of a habit; `with` is what its row says of them.
using Repair = Edits (*)(const HabitPlace& at, std::string_view with);

/// Another text for what does not fit, for the word that leads, for both and what is between.
Edits replaceFound(const HabitPlace& at, std::string_view with);
Edits replaceLead(const HabitPlace& at, std::string_view with);
Edits replaceGap(const HabitPlace& at, std::string_view with);
/// The same for all from the word that leads up to what does not fit.
Edits replaceUpTo(const HabitPlace& at, std::string_view with);
/// Leaves out the token that leads, or what does not fit, or each word like the one that leads.
Edits dropLead(const HabitPlace& at, std::string_view with);
Edits dropFound(const HabitPlace& at, std::string_view with);
Edits dropEach(const HabitPlace& at, std::string_view with);
/// Puts a text in front of what does not fit.
Edits insertBefore(const HabitPlace& at, std::string_view with);
/// Writes the expressions on both sides, `$l` and `$r`, anew.
Edits aroundBoth(const HabitPlace& at, std::string_view with);
/// Writes the token in front, `$l`, and the rest of the expression, `$r`, anew.
Edits aroundRest(const HabitPlace& at, std::string_view with);
/// Other brackets for those that open at what does not fit: both are in `with`, the opening one
/// first.
Edits otherBrackets(const HabitPlace& at, std::string_view with);
/// Replaces each mark like the one that does not fit, up to the end of what it stands in.
Edits replaceEach(const HabitPlace& at, std::string_view with);

/// A definition's `: e`, or `: Type = e`.
Edits writeBody(const HabitPlace& at, std::string_view with);
/// `Some x`, `Circle of f32` and `x :: rest` in patterns and types.
Edits wrapFound(const HabitPlace& at, std::string_view with);
Edits parenthesise(const HabitPlace& at, std::string_view with);
Edits writeCons(const HabitPlace& at, std::string_view with);
/// `return e` and `return e;`.
Edits dropReturn(const HabitPlace& at, std::string_view with);
/// `lambda x: e`, `fun x -> e`, `fn x = e`; `with` are the marks that may stand behind the
/// parameters.
Edits writeFunction(const HabitPlace& at, std::string_view with);
/// `(x) => e` and `x => e`.
Edits writeArrow(const HabitPlace& at, std::string_view with);
/// `|x| e`.
Edits writeClosure(const HabitPlace& at, std::string_view with);
/// `x = e;` and `x := e;`.
Edits writeLet(const HabitPlace& at, std::string_view with);
/// `x += e;`, `x++;`.
Edits writeChange(const HabitPlace& at, std::string_view with);
Edits writeElement(const HabitPlace& at, std::string_view with);
/// `let f(x) = e` and `let rec f(x) = e` beside definitions.
Edits writeDefinition(const HabitPlace& at, std::string_view with);
/// `if c then a else b` and `if (c) a else b`.
Edits writeBranches(const HabitPlace& at, std::string_view with);
/// `c ? a : b`, and `a if c else b`.
Edits writeChoice(const HabitPlace& at, std::string_view with);
/// `a < b < c`.
Edits writeBoth(const HabitPlace& at, std::string_view with);
/// `a // b`.
Edits writeQuotient(const HabitPlace& at, std::string_view with);
/// `(* comment *)`.
Edits writeComment(const HabitPlace& at, std::string_view with);
/// `from a import b`.
Edits writeImport(const HabitPlace& at, std::string_view with);
/// `A(x) | B` behind the `=` of a type.
Edits writeConstructors(const HabitPlace& at, std::string_view with);
/// `| p => e | q => e`.
Edits writeArms(const HabitPlace& at, std::string_view with);
/// `Point { x: 1 }`.
Edits writeRecord(const HabitPlace& at, std::string_view with);
/// `import "file"`.
Edits dropQuotes(const HabitPlace& at, std::string_view with);
/// `%x` and `@x`, in all of the definition.
Edits dropSigils(const HabitPlace& at, std::string_view with);

} // namespace parser::baton
