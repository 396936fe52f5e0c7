// Data types are drawn as text and read like any program; signatures of the prelude come from
// reading a program that mentions its functions.
#include "tests/harness/universe.h"

#include "lang/ir/walk.h"
#include "lang/op/op.h"
#include "tests/harness/random.h"
#include "tests/harness/types.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <stdexcept>

namespace harness {

using namespace lang;

namespace {

constexpr uint32_t endless = 1000;

/// Functions of the prelude that fault on some arguments, or need not end.
constexpr std::string_view partialFunctions[] = {
    "hd", "tl", "nth", "update", "foldr1", "unfoldr", "unfoldl", "iterate", "nat_nth", "nat_update",
};

/// The parameters of a data type that is being drawn.
struct Parameters {
  std::vector<std::string> types, sizes;

  std::string text() const {
    std::vector<std::string> all = types;
    all.insert(all.end(), sizes.begin(), sizes.end());
    return all.empty() ? "" : fmt::format("[{}]", fmt::join(all, ", "));
  }
};

std::string drawSized(Random& random, const std::string& size) {
  static const std::vector<std::string> around = {
      "Tensor[({}), float32]", "Tensor[({}, 3), float32]", "Tensor[(2, {}), int32]",
      "Tensor[({0}, {0}), float64]"};
  return fmt::format(fmt::runtime(random.pick(around)), size);
}

std::string drawField(Random& random, const Parameters& parameters, const std::string& self) {
  static const std::vector<std::string> plain = {"int32",
                                                 "float32",
                                                 "bool",
                                                 "Tensor[(2, 3), float32]",
                                                 "Tensor[(4), int32]",
                                                 "float64",
                                                 "int64",
                                                 "(int32, float32)",
                                                 "List[int32]",
                                                 "Option[Tensor[(2), float32]]"};
  if (!parameters.sizes.empty() && random.chance(25)) {
    std::string size = random.pick(parameters.sizes);
    static const std::vector<std::string> forms = {"{}", "{}", "2 * {}", "{} + 1"};
    return drawSized(random, fmt::format(fmt::runtime(random.pick(forms)), size));
  }
  if (!parameters.types.empty() && random.chance(55)) {
    std::string name = random.pick(parameters.types);
    static const std::vector<std::string> around = {
        "{}", "{}", "{}", "{}", "List[{}]", "Option[{}]", "({}, int32)", "fn ({0}) -> {0}"};
    return fmt::format(fmt::runtime(random.pick(around)), name);
  }
  return random.chance(20) ? self : random.pick(plain);
}

/// Of one constructor with fields it is a record, named as its constructor is. Sizes stand by
/// themselves in the first constructor.
std::string drawDataType(Random& random, size_t number) {
  static const std::vector<std::string> types = {"A", "B"}, sizes = {"k", "l"};
  Parameters parameters{{types.begin(), types.begin() + random.integer(0, 2)}, {}};
  if (random.chance(35))
    parameters.sizes.assign(sizes.begin(), sizes.begin() + random.integer(1, 2));
  int64_t count = random.integer(1, 3);
  std::vector<std::string> fields;
  for (int64_t j = random.integer(0, 3); j > 0; --j)
    fields.push_back(drawField(random, parameters, "bool"));
  for (const std::string& size : parameters.sizes)
    fields.push_back(drawSized(random, size));
  bool isRecord = count == 1 && !fields.empty();
  std::string head = fmt::format("{}{}", isRecord ? "Data" : "T", number);
  std::string self = head + parameters.text(), text = "type " + self + " {\n";
  for (int64_t i = 0; i < count; ++i) {
    std::string name = isRecord ? head : fmt::format("K{}{}", number, char('a' + i));
    text +=
        "  " + name + (fields.empty() ? "" : fmt::format("({})", fmt::join(fields, ", "))) + ",\n";
    fields.clear();
    for (int64_t j = random.integer(0, 3); j > 0; --j)
      fields.push_back(drawField(random, parameters, self));
  }
  return text + "}";
}

/// The heights of constructors, as a fixed point: a type is as high as its lowest constructor.
void fillHeights(std::vector<DataType>& dataTypes) {
  auto heightOf = [&](const TypeDefinition* definition) {
    for (const DataType& data : dataTypes)
      if (data.definition == definition && !data.heights.empty())
        return *std::ranges::min_element(data.heights);
    return endless;
  };
  for (DataType& data : dataTypes)
    data.heights.assign(data.definition->constructors.size(), endless);
  for (size_t round = 0; round < 4; ++round)
    for (DataType& data : dataTypes)
      for (size_t i = 0; i < data.heights.size(); ++i) {
        uint32_t height = 0;
        for (const Type* field : data.definition->constructors[i]->fields)
          anyPart(field, [&](const Type* part) {
            if (part->kind == TypeKind::Data)
              height = std::max(height, heightOf(part->definition));
            return false;
          });
        data.heights[i] = std::min(height + 1, endless);
      }
}

Callable callableOf(const Global& global) {
  const Function& function = *global.function;
  Callable callable{.name = std::string(global.name)};
  callable.generics.assign(function.generics.begin(), function.generics.end());
  for (const Var* parameter : function.parameters)
    callable.parameters.push_back(parameter->annotation);
  callable.result = function.resultAnnotation;
  callable.isPrelude = true;
  return callable;
}

/// Whether a call of a global comes to code that a pass has to write out first.
bool needsExpansion(const Global& root) {
  std::set<const Global*> seen{&root};
  std::vector<const Global*> open{&root};
  bool found = false;
  while (!open.empty() && !found) {
    const Global* global = open.back();
    open.pop_back();
    walk(
        *global->function->body, [](const Binding&) {},
        [&](const Operand& operand) {
          const auto* op = operand.value->as<OperatorRef>();
          found |= op && op->row->action == Action::Expand;
          const auto* called = operand.value->as<Global>();
          if (called && called->function && seen.insert(called).second)
            open.push_back(called);
        });
  }
  return found;
}

} // namespace

Universe::Universe(uint64_t seed, bool namedDimensions) {
  Random random(seed);
  std::vector<std::string> texts;
  std::string program = "#[version = \"0.0.5\"]\n";
  for (size_t i = 0; i < 16; ++i)
    program += texts.emplace_back(drawDataType(random, i)) + "\n";
  std::string mentions;
  for (const std::string& name : reader.preludeFunctions())
    if (std::ranges::find(partialFunctions, name) == std::end(partialFunctions))
      mentions += "@" + name + ", ";
  base = reader.read(program + "def @main() { (" + mentions + ") }\n", false);
  if (!base.isGood())
    throw std::logic_error("the data types of a universe are refused:\n" + reader.errorText(base));
  size_t fromPrelude = base.module->preludeTypes;
  for (size_t i = 0; i < base.module->typeDefinitions.size(); ++i)
    dataTypes.push_back(
        {base.module->typeDefinitions[i], i < fromPrelude ? "" : texts[i - fromPrelude], {}});
  fillHeights(dataTypes);
  for (size_t i = 0; i < base.module->preludeGlobals; ++i) {
    const Global& global = *base.module->globals[i];
    bool isTotal = std::ranges::find(partialFunctions, global.name) == std::end(partialFunctions);
    if (isTotal && !needsExpansion(global))
      prelude.push_back(callableOf(global));
  }
  if (namedDimensions)
    symbols = {types.symbol("n"), types.symbol("m")};
  fillSamples(samples, reader, random.next(), {.symbols = symbols});
}

const DataType& Universe::dataType(const TypeDefinition* definition) const {
  return *std::ranges::find(dataTypes, definition, &DataType::definition);
}

} // namespace harness
