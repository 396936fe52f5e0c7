// Statements are listed with the nodes around them; then each target is looked at for itself, by
// its writers and readers. What coverage.h gives for a writer, with the loops that it shares with a
// reader fixed, is what the reader may read.
#include "lower/loops/verify.h"

#include "lower/loops/check_values.h"
#include "lower/loops/coverage.h"
#include "lower/loops/names.h"

#include <algorithm>
#include <fmt/format.h>

namespace loops {

namespace {

using sizes::Facts;

/// A statement and the nodes around it, outermost first.
struct Placed {
  const Statement* statement;
  std::vector<const Node*> around;
  /// What is known outside of all nodes, inside of the first one, and so on.
  std::vector<Facts> facts;
  /// In the order of the text.
  size_t number;
};

using Box = std::vector<Span>;

class Verifier {
public:
  explicit Verifier(Nest& nest) : nest_(nest) {}

  void run() {
    checkPlaces(nest_);
    list(nest_.body, {}, {factsOf(nest_)});
    findUsers();
    for (uint32_t i = 0; i < nest_.buffers.size(); ++i)
      if (nest_.buffers[i].space != Space::Input)
        checkOnce(i);
  }

private:
  [[noreturn]] void wrong(uint32_t buffer, std::string_view problem) const {
    throw Wrong{fmt::format("`{}` {}", nest_.buffers[buffer].name, problem)};
  }

  void list(const std::vector<Node>& nodes, std::vector<const Node*> around,
            std::vector<Facts> facts) {
    for (const Node& node : nodes) {
      if (const auto* statement = std::get_if<Statement>(&node.what))
        placed_.push_back({statement, around, facts, placed_.size()});
      if (const auto* allocation = std::get_if<Allocation>(&node.what))
        depths_[allocation->buffer] = around.size();
      if (const auto* loop = std::get_if<Loop>(&node.what); loop && loop->kind == RunKind::Grouped)
        checkGroup(node, *loop);
      if (node.body.empty())
        continue;
      around.push_back(&node);
      facts.push_back(facts.back());
      enter(facts.back(), nest_.table, node);
      list(node.body, around, facts);
      around.pop_back();
      facts.pop_back();
    }
  }

  /// What runs at once side by side is one statement, a few times; it may join to one element in
  /// any order.
  void checkGroup(const Node& node, const Loop& loop) const {
    constexpr int64_t mostOfGroup = 16;
    auto count = nest_.table.constantOf(loop.end);
    const auto* statement =
        node.body.size() == 1 ? std::get_if<Statement>(&node.body[0].what) : nullptr;
    if (!count || *count > mostOfGroup || !statement || statement->stores.size() != 1)
      throw Wrong{fmt::format("the group `{}` is no fixed number, up to {}, of one statement",
                              nest_.table.textOf(loop.variable), mostOfGroup)};
    uint32_t target = statement->stores[0].buffer;
    if (statement->combiner && nest_.buffers[target].dtype.isFloat() &&
        nest_.numbers == Numbers::Reference)
      wrong(target, "is joined in a group, and in the order of the reference");
  }

  /// Lists the statements by what they store and load, so that all buffers are checked in the time
  /// of going through the nest once.
  void findUsers() {
    users_.resize(nest_.buffers.size());
    for (const Placed& placed : placed_) {
      auto add = [&](uint32_t buffer) {
        std::vector<const Placed*>& users = users_[buffer];
        if (users.empty() || users.back() != &placed)
          users.push_back(&placed);
      };
      for (const Store& store : placed.statement->stores)
        add(store.buffer);
      for (const Operation& operation : placed.statement->operations)
        if (operation.kind == OperationKind::Load)
          add(operation.buffer);
    }
  }

  size_t depthOf(uint32_t buffer) const {
    auto found = depths_.find(buffer);
    return found == depths_.end() ? 0 : found->second;
  }

  /// What a writer makes of a target with the first `depth` nodes around it fixed: its spatial
  /// coordinates, then its reduced ones.
  const Box& boxOf(const Placed& writer, const Store& store, size_t depth) {
    auto [known, isNew] = boxes_.try_emplace({&store, depth});
    if (!isNew)
      return known->second;
    std::vector<Form> coordinates = store.position;
    for (const Reduced& axis : writer.statement->reduced)
      coordinates.push_back(axis.position);
    std::vector<const Node*> inner(writer.around.begin() + ptrdiff_t(depth), writer.around.end());
    auto spans = spansOf(nest_.table, writer.facts[depth], inner, coordinates);
    if (!spans)
      wrong(store.buffer, "is made by loops that do not go through each of its elements once");
    for (Span& span : *spans)
      for (size_t& digit : span.digits)
        digit += depth;
    return known->second = *std::move(spans);
  }

  static const Store* storeTo(const Placed& placed, uint32_t buffer) {
    auto found = std::ranges::find(placed.statement->stores, buffer, &Store::buffer);
    return found == placed.statement->stores.end() ? nullptr : &*found;
  }

  /// Loops that run at once make elements apart; and the order of sums, where it counts.
  void checkRunKinds(const Placed& writer, const Store& store) {
    size_t depth = depthOf(store.buffer);
    const Box& box = boxOf(writer, store, depth);
    auto isAtOnce = [&](size_t place) {
      const auto* loop = std::get_if<Loop>(&writer.around[place]->what);
      return loop && (loop->kind == RunKind::Vector || loop->kind == RunKind::Parallel);
    };
    std::vector<size_t> order;
    for (size_t i = store.position.size(); i < box.size(); ++i) {
      if (std::ranges::any_of(box[i].digits, isAtOnce))
        wrong(store.buffer, "is joined in a loop that runs at once");
      order.insert(order.end(), box[i].digits.begin(), box[i].digits.end());
    }
    bool isOrdered =
        nest_.numbers == Numbers::Reference && nest_.buffers[store.buffer].dtype.isFloat();
    if (isOrdered && !std::ranges::is_sorted(order))
      wrong(store.buffer, "is joined in another order than that of the reference");
    for (size_t i = depth; i < writer.around.size(); ++i)
      if (const auto* loop = std::get_if<Loop>(&writer.around[i]->what);
          loop && loop->kind == RunKind::Vector)
        for (size_t inner = i + 1; inner < writer.around.size(); ++inner)
          if (const auto* other = std::get_if<Loop>(&writer.around[inner]->what);
              other && other->kind != RunKind::Unrolled && other->kind != RunKind::Grouped)
            wrong(store.buffer, "is made in a vector loop that has a loop inside");
  }

  struct Writers {
    std::vector<const Placed*> makers, joiners;
    /// Joiners with the same reduced coordinates; each group goes through the whole of its own.
    std::vector<std::vector<const Placed*>> groups = {};
  };

  void addJoiner(Writers& writers, const Placed& joiner) {
    writers.joiners.push_back(&joiner);
    auto extents = [](const Placed& placed) {
      std::vector<Form> list;
      for (const Reduced& axis : placed.statement->reduced)
        list.push_back(axis.extent);
      return list;
    };
    for (std::vector<const Placed*>& group : writers.groups)
      if (extents(*group[0]) == extents(joiner)) {
        group.push_back(&joiner);
        return;
      }
    writers.groups.push_back({&joiner});
  }

  /// Checks a buffer unless one that is used in the same way was good.
  void checkOnce(uint32_t buffer) {
    Words uses = usesOf(buffer);
    if (nest_.table.knowledge().isNoted(uses))
      return;
    checkBuffer(buffer);
    nest_.table.knowledge().note(uses);
  }

  using Words = std::vector<uint64_t>;

  /// All that is looked at of a buffer, in numbers that stand for nothing else.
  Words usesOf(uint32_t buffer) const {
    const Buffer& made = nest_.buffers[buffer];
    Words words{uint64_t(made.space), uint64_t(nest_.numbers), uint64_t(made.dtype.isFloat()),
                depthOf(buffer)};
    addForms(made.extents, words);
    const Placed* last = nullptr;
    for (const Placed* user : users_[buffer]) {
      const Placed& placed = *user;
      const Store* store = storeTo(placed, buffer);
      std::vector<const Operation*> loads;
      for (const Operation& operation : placed.statement->operations)
        if (operation.kind == OperationKind::Load && operation.buffer == buffer)
          loads.push_back(&operation);
      addNodes(placed, last ? sharedBy(*last, placed) : 0, words);
      words.push_back(loads.size());
      for (const Operation* load : loads)
        addLoad(*load, words);
      words.push_back(store != nullptr);
      if (store)
        addStore(*placed.statement, *store, words);
      last = &placed;
    }
    return words;
  }

  static void addForms(const std::vector<Form>& forms, Words& words) {
    words.push_back(forms.size());
    for (Form form : forms)
      words.push_back(uint64_t(form));
  }

  /// The nodes around a statement that are not around the one before it.
  static void addNodes(const Placed& placed, size_t shared, Words& words) {
    words.insert(words.end(),
                 {shared, placed.around.size(), uint64_t(placed.facts.back().scope())});
    for (size_t i = shared; i < placed.around.size(); ++i) {
      words.push_back(uint64_t(placed.facts[i + 1].scope()));
      if (const auto* loop = std::get_if<Loop>(&placed.around[i]->what)) {
        words.push_back(uint64_t(loop->kind) + 1);
      } else {
        const auto& condition = std::get<Condition>(placed.around[i]->what);
        words.insert(words.end(), {0, uint64_t(condition.left), uint64_t(condition.right)});
      }
    }
  }

  static void addLoad(const Operation& load, Words& words) {
    words.insert(words.end(), {load.places.size(), load.operands.size()});
    for (const Place& place : load.places)
      words.insert(words.end(), {uint64_t(place.form), uint64_t(place.value != none),
                                 uint64_t(place.isChecked)});
  }

  static void addStore(const Statement& statement, const Store& store, Words& words) {
    addForms(store.position, words);
    words.push_back(statement.combiner ? uint64_t(*statement.combiner) + 1 : 0);
    words.push_back(statement.reduced.size());
    for (const Reduced& axis : statement.reduced)
      words.insert(words.end(), {uint64_t(axis.position), uint64_t(axis.extent)});
  }

  void checkBuffer(uint32_t buffer) {
    Writers writers;
    for (const Placed* user : users_[buffer])
      if (const Store* store = storeTo(*user, buffer)) {
        checkRunKinds(*user, *store);
        if (user->statement->combiner)
          addJoiner(writers, *user);
        else
          writers.makers.push_back(user);
      }
    size_t depth = depthOf(buffer);
    if (!writers.makers.empty())
      united(writers.makers, buffer, depth);
    for (const std::vector<const Placed*>& group : writers.groups)
      checkJoined(group, *writers.joiners[0], buffer, depth);
    if (nest_.buffers[buffer].space == Space::Output)
      checkWhole(writers, buffer);
    for (const Placed* user : users_[buffer])
      for (const Operation& operation : user->statement->operations)
        if (operation.kind == OperationKind::Load && operation.buffer == buffer)
          checkRead(writers, *user, buffer, operation.places, !operation.operands.empty());
    for (const Placed* joiner : writers.joiners) {
      std::vector<Place> places;
      for (Form form : storeTo(*joiner, buffer)->position)
        places.push_back({form});
      checkAfter(writers.makers, *joiner, buffer, places, false);
    }
  }

  /// The box that several writers make together, one element once.
  Box united(const std::vector<const Placed*>& group, uint32_t buffer, size_t depth) {
    constexpr size_t mostWriters = 64;
    if (group.size() > mostWriters)
      wrong(buffer, "is made by more statements than anybody can put together");
    std::vector<Box> boxes;
    for (const Placed* writer : group)
      boxes.push_back(boxOf(*writer, *storeTo(*writer, buffer), depth));
    Facts facts = group[0]->facts[depth];
    while (boxes.size() > 1)
      if (!joinTwo(boxes, facts))
        wrong(buffer, "is made by statements whose parts do not fit together");
    return boxes[0];
  }

  static bool joinTwo(std::vector<Box>& boxes, const Facts& facts) {
    for (size_t i = 0; i < boxes.size(); ++i)
      for (size_t j = 0; j < boxes.size(); ++j)
        if (i != j && joined(boxes[i], boxes[j], facts)) {
          boxes.erase(boxes.begin() + ptrdiff_t(j));
          return true;
        }
    return false;
  }

  /// Adds a box that goes on where another ends in one coordinate and is the same in all others.
  static bool joined(Box& box, const Box& other, const Facts& facts) {
    std::optional<size_t> apart;
    for (size_t i = 0; i < box.size(); ++i) {
      if (facts.areSame(box[i].begin, other[i].begin) && facts.areSame(box[i].end, other[i].end))
        continue;
      if (apart || !facts.areSame(box[i].end, other[i].begin))
        return false;
      apart = i;
    }
    if (apart)
      box[*apart].end = other[*apart].end;
    return apart.has_value();
  }

  /// Joiners go through the whole of their reduced coordinates, all of one kind.
  void checkJoined(const std::vector<const Placed*>& group, const Placed& other, uint32_t buffer,
                   size_t depth) {
    const Statement& first = *group[0]->statement;
    for (const Placed* joiner : group)
      if (joiner->statement->combiner != other.statement->combiner)
        wrong(buffer, "is joined in several ways");
    Box box = united(group, buffer, depth);
    Facts facts = group[0]->facts[depth];
    size_t rank = nest_.buffers[buffer].extents.size();
    for (size_t i = 0; i < first.reduced.size(); ++i)
      if (!facts.areSame(box[rank + i].begin, nest_.table.number(0)) ||
          !facts.areSame(box[rank + i].end, first.reduced[i].extent))
        wrong(buffer, "is joined over a part of what it says");
  }

  void checkWhole(const Writers& writers, uint32_t buffer) {
    const Buffer& made = nest_.buffers[buffer];
    if (writers.makers.empty())
      wrong(buffer, "is not made");
    Box box = united(writers.makers, buffer, 0);
    Facts facts = factsOf(nest_);
    for (size_t i = 0; i < made.extents.size(); ++i)
      if (!facts.areSame(box[i].begin, nest_.table.number(0)) ||
          !facts.areSame(box[i].end, made.extents[i]))
        wrong(buffer, "is not made as a whole");
  }

  void checkRead(const Writers& writers, const Placed& reader, uint32_t buffer,
                 const std::vector<Place>& places, bool mayBeOutside) {
    if (storeTo(reader, buffer))
      return checkOwn(writers.makers, reader, buffer, places);
    checkAfter(writers.makers, reader, buffer, places, mayBeOutside);
    for (const std::vector<const Placed*>& group : writers.groups)
      checkAfter(group, reader, buffer, places, mayBeOutside);
  }

  /// Whether what a reader reads was made by these writers, all of them, before.
  void checkAfter(const std::vector<const Placed*>& group, const Placed& reader, uint32_t buffer,
                  const std::vector<Place>& places, bool mayBeOutside) {
    if (group.empty())
      wrong(buffer, "is read, but nothing makes it");
    size_t depth = depthOf(buffer);
    std::optional<size_t> shared;
    for (const Placed* writer : group) {
      size_t own = sharedBy(*writer, reader);
      if (writer->number >= reader.number)
        wrong(buffer, "is read before it is made");
      if (shared && *shared != own)
        wrong(buffer, "is read beside some of its writers");
      shared = own;
    }
    checkSharedLoops(group, buffer, depth, *shared);
    Box box = united(group, buffer, std::max(depth, *shared));
    Facts facts = reader.facts.back();
    const Buffer& read = nest_.buffers[buffer];
    for (size_t i = 0; i < places.size(); ++i) {
      // Where nothing is known, every element must be there.
      bool isWhole = facts.areSame(box[i].begin, nest_.table.number(0)) &&
                     facts.areSame(box[i].end, read.extents[i]);
      bool isKnown = places[i].value == none && !places[i].isChecked && !mayBeOutside;
      if (!isWhole && !(isKnown && facts.proves(places[i].form, box[i].begin) &&
                        facts.isLess(places[i].form, box[i].end) == sizes::Answer::Yes))
        wrong(buffer, "is read at elements that are not made by then");
    }
  }

  /// Loops that a joiner shares with a reader are none that it joins over.
  void checkSharedLoops(const std::vector<const Placed*>& group, uint32_t buffer, size_t depth,
                        size_t shared) {
    for (const Placed* writer : group)
      for (size_t i = depth; i < shared; ++i)
        if (const auto* loop = std::get_if<Loop>(&writer->around[i]->what))
          for (const Reduced& axis : writer->statement->reduced)
            if (nest_.table.mentions(axis.position, loop->variable))
              wrong(buffer, "is read in a loop that it is joined over");
  }

  static size_t sharedBy(const Placed& a, const Placed& b) {
    size_t count = 0;
    while (count < a.around.size() && count < b.around.size() && a.around[count] == b.around[count])
      ++count;
    return count;
  }

  /// A statement that reads what it made before: at one coordinate further back, in its order.
  /// Other statements that make a part of that coordinate are in loops of their own, in front where
  /// they make what comes before.
  void checkOwn(const std::vector<const Placed*>& makers, const Placed& placed, uint32_t buffer,
                const std::vector<Place>& places) {
    const Store& store = *storeTo(placed, buffer);
    size_t depth = depthOf(buffer);
    const Box box = boxOf(placed, store, depth);
    Facts facts = placed.facts.back();
    size_t back = 0;
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i].value == none && places[i].form == store.position[i])
        continue;
      bool isBack = places[i].value == none &&
                    facts.isLess(places[i].form, store.position[i]) == sizes::Answer::Yes &&
                    std::ranges::is_sorted(box[i].digits);
      for (const Placed* maker : makers)
        isBack = isBack && (maker == &placed || maker->number < placed.number ||
                            facts.proves(boxOf(*maker, *storeTo(*maker, buffer), depth)[i].begin,
                                         box[i].end));
      for (size_t digit : box[i].digits)
        if (const auto* loop = std::get_if<Loop>(&placed.around[digit]->what))
          isBack = isBack && loop->kind != RunKind::Vector && loop->kind != RunKind::Parallel &&
                   loop->kind != RunKind::Grouped &&
                   std::ranges::none_of(makers, [&](const Placed* maker) {
                     return maker != &placed && sharedBy(*maker, placed) > digit;
                   });
      if (!isBack || ++back > 1)
        wrong(buffer, "reads itself at elements that are not made by then");
    }
    if (back == 0 || placed.statement->combiner)
      wrong(buffer, "reads the element that it makes");
  }

  Nest& nest_;
  std::vector<Placed> placed_;
  /// By buffer, in the order of the text.
  std::vector<std::vector<const Placed*>> users_;
  std::map<std::pair<const Store*, size_t>, Box> boxes_;
  /// How many nodes there are around the place where scratch is allocated.
  std::map<uint32_t, size_t> depths_;
};

} // namespace

std::string problemOf(const Nest& nest) {
  Nest own = nest;
  return problemOf(own);
}

std::string problemOf(Nest& nest) {
  try {
    Verifier(nest).run();
    return "";
  } catch (const Wrong& wrong) {
    return wrong.problem;
  }
}

} // namespace loops
