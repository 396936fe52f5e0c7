// The names stand in the order of the enumeration.
#include "tests/harness/spelling.h"

#include "tests/harness/random.h"

namespace harness {

namespace {

constexpr std::string_view names[] = {"alias",
                                      "alternatives",
                                      "number without a type",
                                      "tuple in brackets",
                                      "constant",
                                      "default",
                                      "else if",
                                      "failure",
                                      "pattern of fields",
                                      "guard",
                                      "name that is hidden",
                                      "import",
                                      "infix operator",
                                      "body behind =",
                                      "list",
                                      "pattern of a list",
                                      "pattern of a number",
                                      "&& or ||",
                                      "type of Relay's",
                                      "condition that is matched",
                                      "named argument",
                                      "open parameter",
                                      "pattern as parameter",
                                      "partial call",
                                      "partial type",
                                      "pipe",
                                      "pipe to a place",
                                      "attribute by position",
                                      "prefix operator",
                                      "print",
                                      "call of a record",
                                      "rest of dimensions",
                                      "short attribute",
                                      "index of the first dimensions",
                                      "short name",
                                      "name of a size",
                                      "let that takes apart",
                                      "tensor of values",
                                      ".T"};
static_assert(std::size(names) == formCount);

uint64_t partOf(Form form, uint64_t place) {
  return place * formCount + uint64_t(form);
}

} // namespace

std::string_view formName(Form form) {
  return names[size_t(form)];
}

bool Spelling::takes(Form form, uint64_t place, unsigned percent) {
  if (isForbidden_[size_t(form)])
    return false;
  bool isTaken = form == wanted_ || mixSeed(seed_, partOf(form, place)) % 100 < percent;
  counts_[size_t(form)] += isTaken;
  return isTaken;
}

size_t Spelling::index(Form form, uint64_t place, size_t bound) const {
  return size_t(mixSeed(seed_ + 1, partOf(form, place)) % bound);
}

} // namespace harness
