// A loop may be split more than once; the largest divisor is taken first, so that what is left of
// the others are divisors of the loop inside.
#include "codegen/strips/compile/splits.h"

#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace strips {

namespace {

using loops::Form;
using loops::Name;
using loops::Node;

class SplitFinder {
public:
  explicit SplitFinder(loops::Nest& nest) : nest_(nest) {}

  /// The step that splits some loop, if there is one.
  std::optional<loops::Step> find() {
    loops::forEachNode(nest_.body, [&](Node& node) {
      if (const auto* loop = std::get_if<loops::Loop>(&node.what))
        if (auto end = nest_.table.constantOf(loop->end))
          ends_[loop->variable] = *end;
    });
    loops::changeForms(nest_, nest_.body, [&](Form form) {
      look(form);
      return form;
    });
    if (divisors_.empty())
      return std::nullopt;
    auto [variable, divisor] = *divisors_.begin();
    return loops::Step{"split", {nest_.table.textOf(variable), std::to_string(divisor)}};
  }

private:
  void look(Form form) {
    // Atoms in atoms are looked at, too.
    std::vector<Form> left{form};
    while (!left.empty()) {
      const sizes::Sum sum = nest_.table.sumOf(left.back());
      left.pop_back();
      for (const sizes::Term& term : sum.terms)
        for (sizes::Atom atom : term.factors) {
          const sizes::AtomParts parts = nest_.table.partsOf(atom);
          if (parts.kind == sizes::AtomKind::Name)
            continue;
          if (parts.kind == sizes::AtomKind::Quotient)
            consider(parts.left, parts.right);
          left.push_back(parts.left);
          left.push_back(parts.right);
        }
    }
  }

  void consider(Form dividend, Form divisor) {
    auto variable = nest_.table.nameOf(dividend);
    auto number = nest_.table.constantOf(divisor);
    if (!variable || !number || *number < 2)
      return;
    auto end = ends_.find(*variable);
    if (end == ends_.end() || end->second % *number != 0 || end->second <= *number)
      return;
    int64_t& largest = divisors_[*variable];
    largest = std::max(largest, *number);
  }

  loops::Nest& nest_;
  std::map<Name, int64_t> ends_, divisors_;
};

} // namespace

void splitLoops(loops::Nest& nest) {
  // More levels than that are no tensors.
  constexpr int mostSplits = 16;
  for (int i = 0; i < mostSplits; ++i) {
    auto step = SplitFinder(nest).find();
    if (!step)
      return;
    auto split = loops::applied(nest, *step);
    if (!split)
      return;
    nest = *std::move(split);
  }
}

} // namespace strips
