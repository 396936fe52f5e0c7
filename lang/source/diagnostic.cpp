// The message table, and the sink.
#include "lang/source/diagnostic.h"

#include "lang/source/way_back.h"

#include <algorithm>
#include <array>

namespace lang {

namespace {

constexpr std::array allRows{
#define DIAGNOSTIC(name, code, severity, text) MessageRow{code, Severity::severity, text},
#include "lang/source/diagnostics.def"
#undef DIAGNOSTIC
};

} // namespace

const MessageRow& messageRow(Message message) {
  return allRows[size_t(message)];
}

std::span<const MessageRow> messageRows() {
  return allRows;
}

Diagnostic& Diagnostics::add(Message message, SourceRange range, Words text) {
  range = inText(range);
  bool isError = messageRow(message).severity == Severity::Error;
  if (isError)
    ++errors_;
  bool repeated = !items_.empty() && isError && items_.back().range == range &&
                  items_.back().severity() == Severity::Error && range.isValid();
  bool isSilenced = !isError && std::ranges::count(silenced_, message) > 0;
  if (repeated || isSilenced || items_.size() >= maximumErrors) {
    discarded_ = {};
    return discarded_;
  }
  items_.push_back({message, range, std::move(text), {}, {}, {}, {}});
  return items_.back();
}

void Diagnostics::append(const Diagnostics& others) {
  for (const Diagnostic& item : others.items_)
    add(item.message, item.range, {}) = item;
}

void Diagnostics::dropWarnings(size_t kept) {
  auto isWarning = [](const Diagnostic& finding) { return finding.severity() != Severity::Error; };
  items_.erase(std::remove_if(items_.begin() + ptrdiff_t(kept), items_.end(), isWarning),
               items_.end());
}

void Diagnostics::sortByPlace() {
  std::stable_sort(items_.begin(), items_.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return a.range.begin < b.range.begin;
  });
}

} // namespace lang
