// What is wrong is said of the call, and each operand that is no real is converted.
#include "typecheck/doubtful_numbers.h"

#include "lang/ir/numbers_meant.h"
#include "typecheck/call_edits.h"

namespace typecheck {

namespace {

bool isOpenLiteral(const lang::Operand& place) {
  const auto* constant = place.value->as<lang::Constant>();
  return constant && constant->open != lang::OpenNumber::None;
}

} // namespace

void doubtNumbers(const PendingRelation& relation, std::span<const Type* const> operands,
                  Definitions values, lang::Diagnostics& diagnostics) {
  bool isReal = lang::meansReals(*relation.row, relation.places);
  bool isCount = relation.row->numbersMeant == lang::NumbersMeant::Counts;
  if ((!isReal && !isCount) || operands.empty() || !operands[0]->isTensor())
    return;
  runtime::DType dtype = operands[0]->dtype;
  if (dtype.isFloat() || (isCount && !dtype.isBool()))
    return;
  auto& report = diagnostics.report(
      lang::Message::DoubtfulCall, relation.range, relation.calledAs(),
      dtype.isBool() ? "truth values give a truth value, and no number"
                     : "integers give integers, without what stands behind the point");
  std::vector<lang::CallChange> changes;
  std::vector<const lang::Operand*> places;
  lang::Words after =
      lang::words(", dtype={})", runtime::dtypeValue(isCount ? runtime::Int32 : runtime::Float32));
  for (size_t i = 0; i < operands.size(); ++i) {
    places.push_back(&relation.places[i]);
    if (operands[i]->isTensor() && !operands[i]->dtype.isFloat() &&
        !isOpenLiteral(relation.places[i]))
      changes.push_back({lang::CallChange::Kind::Wrap, i, {}, {}, "cast(", after});
  }
  addFix(report, {"convert it: {}", changes}, *relation.row,
         {relation.range, *relation.attributes, places, values});
  for (lang::Suggestion& suggestion : report.suggestions)
    suggestion.shown = relation.range;
}

} // namespace typecheck
