// Which parameters are open, which have defaults, and what is imported.
#include "tests/harness/notation_plan.h"

#include "lang/ir/expr.h"
#include "stdlib/ops.h"
#include "tests/harness/notation_attributes.h"
#include "tests/harness/random.h"
#include "tests/harness/shared_lines.h"
#include "tests/harness/types.h"

#include <algorithm>
#include <cctype>

namespace harness {

using namespace lang;

namespace {

void addNames(const MatchPattern& pattern, std::set<std::string>& names) {
  if (pattern.kind == PatternKind::Var)
    names.insert(pattern.binder.name);
  for (const MatchPattern& part : pattern.parts)
    addNames(part, names);
}

std::set<std::string> namesOf(const Program& program) {
  std::set<std::string> names;
  for (const Definition& definition : program.definitions)
    names.insert(definition.name);
  for (const Node& node : program.nodes) {
    for (const Item& item : node.items)
      names.insert(item.binder.name);
    for (const Binder& parameter : node.parameters)
      names.insert(parameter.name);
    for (const MatchPattern& pattern : node.patterns)
      addNames(pattern, names);
  }
  return names;
}

uint64_t placeOf(const std::string& definition, size_t parameter) {
  return mixSeed(parameter, definition);
}

/// Whether an argument of the type says by itself what its type is, and the type is one for all.
bool tellsItself(const Type* type) {
  switch (type->kind) {
  case TypeKind::Tensor:
    return !hasOpenDims(type);
  case TypeKind::Tuple:
    return std::ranges::all_of(type->parts, tellsItself);
  case TypeKind::Data:
    return type->definition->generics.empty();
  default:
    return false;
  }
}

/// The names that stand where an operator says what its operand is when nothing else does.
std::set<std::string> saidByOperators(const Program& program) {
  std::set<std::string> names;
  for (const Node& node : program.nodes) {
    const OperatorRow* row =
        node.kind == NodeKind::Operator ? stdlib::operatorTable().find(node.text) : nullptr;
    for (size_t i = 0; row && i < node.parts.size(); ++i)
      if (row->operand(i).inferable && program.node(node.parts[i]).kind == NodeKind::Local)
        names.insert(program.node(node.parts[i]).text);
  }
  return names;
}

/// Whether an operator that means reals is given something integer.
bool givesIntegersForReals(const Program& program, const Node& node) {
  if (node.kind != NodeKind::Operator || operatorOf(node).numbersMeant == NumbersMeant::AsGiven)
    return false;
  return std::ranges::any_of(node.parts, [&](NodeId part) {
    const Type* type = program.node(part).type;
    return !type || !type->isTensor() || type->dtype.isInteger();
  });
}

class Planning {
public:
  Planning(const Program& program, Spelling& spelling)
      : program_(program), spelling_(spelling), said_(saidByOperators(program)) {}

  NotationPlan run() {
    plan_.lines = lineValues(program_);
    plan_.names = namesOf(program_);
    for (size_t i = 0; i + 1 < program_.definitions.size(); ++i)
      openParameters(program_.definitions[i]);
    for (NodeId id : everyNode(program_))
      addDefaults(program_.node(id));
    chooseImported();
    return std::move(plan_);
  }

private:
  void openParameters(const Definition& definition) {
    const std::vector<Binder>& parameters = program_.functionOf(definition).parameters;
    bool isOfRecord = !parameters.empty() && isFunctionOf(definition.name, parameters[0].type);
    for (size_t i = isOfRecord ? 1 : 0; i < parameters.size() && !program_.isDynamic; ++i)
      if (parameters[i].isAnnotated && tellsItself(parameters[i].type) &&
          !said_.contains(parameters[i].name) &&
          spelling_.takes(Form::OpenParameter, placeOf(definition.name, i), 40))
        plan_.open[definition.name].insert(i);
  }

  /// The first literal that a call has for a parameter is its default.
  void addDefaults(const Node& node) {
    if (node.kind != NodeKind::Call || program_.node(node.parts[0]).kind != NodeKind::Global)
      return;
    const std::string& name = program_.node(node.parts[0]).text;
    auto definition = std::ranges::find(program_.definitions, name, &Definition::name);
    if (program_.node(node.parts[0]).isPrelude || definition == program_.definitions.end())
      return;
    const std::vector<Binder>& parameters = program_.functionOf(*definition).parameters;
    for (size_t i = 0; i < parameters.size() && i + 1 < node.parts.size(); ++i) {
      const Node& argument = program_.node(node.parts[i + 1]);
      if (argument.kind == NodeKind::Literal && argument.type == parameters[i].type &&
          !plan_.defaults[name].contains(i) && spelling_.takes(Form::Default, placeOf(name, i), 50))
        plan_.defaults[name][i] = wholeLiteral(argument);
    }
  }

  /// Imported data types have other names in a module, so a result of such is not compared.
  bool givesOwnData() const {
    return anyPart(program_.functionOf(program_.definitions.back()).type->result,
                   [&](const Type* part) {
                     return part->kind == TypeKind::Data &&
                            std::ranges::count(program_.dataTypes, part->definition,
                                               &DataTypeText::definition) > 0;
                   });
  }

  /// The first definitions, as many as need no others and have all functions of records.
  void chooseImported() {
    size_t count = program_.definitions.size();
    if (count < 2 || givesOwnData() || !spelling_.takes(Form::Import, 0, 15))
      return;
    size_t end = 1 + spelling_.index(Form::Import, 0, count - 1);
    for (size_t i = 0; i < count; ++i) {
      const Definition& definition = program_.definitions[i];
      const auto& parameters = program_.functionOf(definition).parameters;
      if (!parameters.empty() && isFunctionOf(definition.name, parameters[0].type))
        end = std::max(end, i + 1);
    }
    for (size_t i = 0; i < end; ++i)
      for (NodeId id : reached(program_.definitions[i]))
        for (size_t j = end; j < count; ++j)
          if (program_.node(id).kind == NodeKind::Global && !program_.node(id).isPrelude &&
              program_.node(id).text == program_.definitions[j].name)
            end = j + 1;
    if (end >= count)
      return;
    plan_.hasImport = true;
    for (size_t i = 0; i < end; ++i)
      plan_.imported.insert(program_.definitions[i].name);
  }

  /// The expressions of a definition with those of the lines that it uses.
  std::vector<NodeId> reached(const Definition& definition) const {
    std::vector<NodeId> found;
    std::set<std::string> seen;
    std::vector<NodeId> open{definition.function};
    while (!open.empty()) {
      NodeId root = open.back();
      open.pop_back();
      for (NodeId id : below(program_, root)) {
        found.push_back(id);
        const Node& node = program_.node(id);
        if (node.kind == NodeKind::Graph && seen.insert(node.text).second)
          open.push_back(plan_.lines.at(node.text));
      }
    }
    return found;
  }

  const Program& program_;
  Spelling& spelling_;
  std::set<std::string> said_;
  NotationPlan plan_;
};

} // namespace

std::string wholeLiteral(const Node& literal) {
  if (literal.text == "True" || literal.text == "False")
    return literal.text == "True" ? "true" : "false";
  bool hasType = literal.text.find_first_not_of("-0123456789.") != std::string::npos;
  return literal.text + (hasType ? "" : "i32");
}

bool isFunctionOf(const std::string& name, const Type* type) {
  if (type->kind != TypeKind::Data)
    return false;
  std::string its(type->definition->name);
  std::ranges::transform(its, its.begin(),
                         [](unsigned char letter) { return std::tolower(letter); });
  return its == name;
}

bool givesIntegersForReals(const Program& program) {
  return std::ranges::any_of(
      program.nodes, [&](const Node& node) { return givesIntegersForReals(program, node); });
}

NotationPlan planNotation(const Program& program, Spelling& spelling) {
  return Planning(program, spelling).run();
}

} // namespace harness
