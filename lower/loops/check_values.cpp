// One walk over the tree with what is known at each place.
#include "lower/loops/check_values.h"

#include "lower/loops/names.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace loops {

namespace {

using sizes::Facts;

[[noreturn]] void wrong(std::string problem) {
  throw Wrong{std::move(problem)};
}

class PlaceChecker {
public:
  explicit PlaceChecker(Nest& nest) : nest_(nest), visible_(nest.buffers.size()) {}

  void run() {
    Facts facts = factsOf(nest_);
    for (const Assumption& size : nest_.sizes)
      if (!scope_.insert(size.size).second || size.multiple < 1)
        wrong(fmt::format("the size `{}` is there twice, or a multiple of nothing",
                          nest_.table.textOf(size.size)));
    std::set<std::string> names;
    for (size_t i = 0; i < nest_.buffers.size(); ++i) {
      const Buffer& buffer = nest_.buffers[i];
      if (!names.insert(buffer.name).second || !buffer.dtype.isComputable())
        wrong(fmt::format("the buffer `{}` is there twice, or has no type to compute with",
                          buffer.name));
      visible_[i] = buffer.space != Space::Scratch;
      if (visible_[i])
        extents(buffer, facts);
    }
    body(nest_.body, facts, 0);
  }

private:
  std::string text(Form form) const { return nest_.table.text(form); }

  void body(const std::vector<Node>& nodes, const Facts& facts, size_t depth) {
    if (depth > deepestNesting)
      wrong("loops are nested too deep");
    std::vector<uint32_t> allocated;
    for (const Node& node : nodes) {
      if (const auto* allocation = std::get_if<Allocation>(&node.what)) {
        allocate(*allocation, facts);
        allocated.push_back(allocation->buffer);
      } else if (const auto* statement = std::get_if<Statement>(&node.what)) {
        check(*statement, facts);
      } else {
        inside(node, facts, depth);
      }
    }
    for (uint32_t buffer : allocated)
      visible_[buffer] = false;
  }

  void inside(const Node& node, const Facts& facts, size_t depth) {
    const auto* loop = std::get_if<Loop>(&node.what);
    if (loop) {
      form(loop->end, facts);
      if (!isSeen_.insert(loop->variable).second || scope_.contains(loop->variable))
        wrong(fmt::format("`{}` is the variable of two loops", nest_.table.textOf(loop->variable)));
      scope_.insert(loop->variable);
    } else {
      form(std::get<Condition>(node.what).left, facts);
      form(std::get<Condition>(node.what).right, facts);
    }
    Facts own = facts;
    enter(own, nest_.table, node);
    body(node.body, own, depth + 1);
    if (loop)
      scope_.erase(loop->variable);
  }

  void allocate(const Allocation& allocation, const Facts& facts) {
    const Buffer& buffer = nest_.buffers.at(allocation.buffer);
    if (buffer.space != Space::Scratch || !isAllocated_.insert(allocation.buffer).second)
      wrong(fmt::format("`{}` is allocated twice, or is no scratch", buffer.name));
    extents(buffer, facts);
    visible_[allocation.buffer] = true;
  }

  void extents(const Buffer& buffer, const Facts& facts) {
    for (Form extent : buffer.extents)
      form(extent, facts);
  }

  /// Names are known here, and no divisor may be negative; one of 0 is for the run to refuse.
  void form(Form form, const Facts& facts) {
    for (Name name : nest_.table.namesIn(form))
      if (!scope_.contains(name))
        wrong(fmt::format("`{}` in `{}` is no size and no loop around", nest_.table.textOf(name),
                          text(form)));
    divisors(form, facts);
  }

  void divisors(Form form, const Facts& facts) {
    const sizes::Sum sum = nest_.table.sumOf(form);
    for (const sizes::Term& term : sum.terms)
      for (sizes::Atom factor : term.factors) {
        const sizes::AtomParts parts = nest_.table.partsOf(factor);
        if (parts.kind == sizes::AtomKind::Name)
          continue;
        divisors(parts.left, facts);
        divisors(parts.right, facts);
        if (parts.kind == sizes::AtomKind::Quotient &&
            !facts.proves(parts.right, nest_.table.number(0)))
          wrong(fmt::format("the divisor `{}` may be negative", text(parts.right)));
      }
  }

  void check(const Statement& statement, const Facts& facts) {
    bool isPair = statement.combiner && findsPlace(*statement.combiner);
    if (statement.stores.size() != (isPair ? 2 : 1) ||
        (!statement.combiner && !statement.reduced.empty()))
      wrong("a statement has the wrong number of targets or coordinates");
    for (uint32_t i = 0; i < statement.operations.size(); ++i)
      check(statement, i, facts);
    for (const Reduced& axis : statement.reduced) {
      form(axis.position, facts);
      form(axis.extent, facts);
    }
    for (const Store& store : statement.stores)
      check(statement, store, facts);
    if (isPair && statement.operations[statement.stores[0].value].dtype != runtime::Int64)
      wrong("a place is an int64");
  }

  const Buffer& bufferOf(uint32_t buffer, size_t rank) {
    if (buffer >= nest_.buffers.size() || !visible_[buffer])
      wrong("a buffer is used where it is not allocated");
    if (nest_.buffers[buffer].extents.size() != rank)
      wrong(fmt::format("`{}` has {} dimensions, but is used with {}", nest_.buffers[buffer].name,
                        nest_.buffers[buffer].extents.size(), rank));
    return nest_.buffers[buffer];
  }

  void check(const Statement& statement, const Store& store, const Facts& facts) {
    const Buffer& buffer = bufferOf(store.buffer, store.position.size());
    if (buffer.space == Space::Input)
      wrong(fmt::format("the input `{}` is written", buffer.name));
    if (store.value >= statement.operations.size())
      wrong("a statement stores a value that it does not have");
    if (DType dtype = statement.operations[store.value].dtype; dtype != buffer.dtype)
      wrong(fmt::format("`{}` has elements of type {}, but a value of type {} is stored in it",
                        buffer.name, runtime::dtypeName(buffer.dtype), runtime::dtypeName(dtype)));
    for (size_t i = 0; i < store.position.size(); ++i) {
      form(store.position[i], facts);
      if (!facts.isInside(store.position[i], buffer.extents[i]))
        wrong(fmt::format("`{}` may be written outside: `{}` is not proven to be below `{}`",
                          buffer.name, text(store.position[i]), text(buffer.extents[i])));
    }
  }

  void check(const Statement& statement, uint32_t place, const Facts& facts) {
    const Operation& operation = statement.operations[place];
    forEachValue(operation, [&](uint32_t value) {
      if (value >= place)
        wrong("an operation uses one that comes behind it");
    });
    if (!operation.dtype.isComputable())
      wrong("an operation has no type to compute with");
    switch (operation.kind) {
    case OperationKind::Position:
      form(operation.position, facts);
      break;
    case OperationKind::Load:
      load(statement, operation, facts);
      break;
    case OperationKind::Apply:
      if (operation.operands.size() != runtime::scalarFunctionArity(operation.function))
        wrong(fmt::format("`{}` has the wrong number of operands", wordOf(operation.function)));
      break;
    case OperationKind::Cast:
      if (operation.operands.size() != 1)
        wrong("a conversion is of one value");
      break;
    case OperationKind::Number:
      break;
    }
  }

  void load(const Statement& statement, const Operation& load, const Facts& facts) {
    const Buffer& buffer = bufferOf(load.buffer, load.places.size());
    if (load.dtype != buffer.dtype || load.operands.size() > 1 ||
        (!load.operands.empty() && statement.operations[load.operands[0]].dtype != load.dtype))
      wrong(fmt::format("what is read of `{}` has another type", buffer.name));
    for (size_t i = 0; i < load.places.size(); ++i) {
      const Place& place = load.places[i];
      bool mayBeOutside = place.isChecked || !load.operands.empty();
      if (place.value != none) {
        if (statement.operations[place.value].dtype != runtime::Int64)
          wrong(fmt::format("`{}` is read at a place that is no int64", buffer.name));
        if (!mayBeOutside)
          wrong(fmt::format("`{}` is read at a place that nothing checks", buffer.name));
        continue;
      }
      form(place.form, facts);
      if (!mayBeOutside && !facts.isInside(place.form, buffer.extents[i]))
        wrong(fmt::format("`{}` may be read outside: `{}` is not proven to be below `{}`",
                          buffer.name, text(place.form), text(buffer.extents[i])));
    }
  }

  Nest& nest_;
  std::vector<bool> visible_;
  std::set<Name> scope_;
  std::set<Name> isSeen_;
  std::set<uint32_t> isAllocated_;
};

} // namespace

void checkPlaces(Nest& nest) {
  PlaceChecker(nest).run();
}

} // namespace loops
