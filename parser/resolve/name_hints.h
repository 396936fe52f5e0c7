// Names that somebody may have meant: the same one in other letters or of another family, one
// that is nearly the same, or what other languages call it. All are guesses, which are tried
// before they are shown.
#pragma once

#include "parser/resolve/resolve_context.h"

namespace parser {

/// Names of one kind, and the sigil in front of them.
struct NameChoices {
  std::string_view sigil;
  std::vector<std::string_view> names;
  /// Whether they mean what was written, however little alike they are.
  bool areTranslations = false;
};

/// The operators that other libraries call `name`, in whatever letters and module.
NameChoices operatorsCalled(const lang::OperatorTable& operators, std::string_view name);

/// True while suggestions are worth the look at all names: past the errors that are shown nobody
/// sees them.
inline bool wantsHints(const ResolveContext& context) {
  return context.diagnostics.errorCount() <= lang::Diagnostics::maximumErrors;
}

/// Suggests names like `name`, which stands at `range`.
void suggestNames(lang::Diagnostic& report, lang::SourceRange range, std::string_view name,
                  std::span<const NameChoices> choices);

/// Suggests the element type that other languages call `name`, or one that is spelt nearly so,
/// as a type, or as an attribute's value.
void suggestDType(lang::Diagnostic& report, lang::SourceRange range, std::string_view name,
                  bool isValue);

/// Suggests attributes of `row` that are not `given` for one called `name`.
void suggestAttributes(lang::Diagnostic& report, std::string_view name,
                       const lang::OperatorRow& row, const std::vector<lang::SourceRange>& given);

} // namespace parser
