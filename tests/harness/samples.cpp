// Hill climbing from the examples: a changed call that the relation accepts can be changed again.
#include "tests/harness/samples.h"

#include "lang/ir/walk.h"
#include "lang/op/attribute_schema.h"
#include "stdlib/ops.h"
#include "tests/harness/draw.h"
#include "tests/harness/operand_data.h"
#include "tests/harness/run_operator.h"
#include "tests/harness/types.h"

#include <algorithm>
#include <set>

namespace harness {

using namespace lang;

bool takesData(const OperatorRow& row) {
  bool isOfValues =
      row.action == Action::Compute || row.action == Action::Pass || row.action == Action::Show;
  return isOfValues && row.derivative == Derivative::None && row.role != Role::Fail;
}

RelationResult relateAdopting(const OperatorRow& row, TypeContext& types,
                              std::vector<const Type*>& operands, const Attributes& attributes) {
  RelationResult result = applyRelation(row, {types, operands, attributes});
  auto differs = [&](const auto& asked) { return asked.second != operands[asked.first]; };
  if (std::ranges::none_of(result.operands, differs))
    return result;
  for (const auto& [index, type] : result.operands)
    operands[index] = type;
  result = applyRelation(row, {types, operands, attributes});
  if (std::ranges::any_of(result.operands, differs))
    result.outcome = RelationResult::Outcome::Failed;
  return result;
}

namespace {

constexpr int64_t largestTensor = 400, sizeTrials = 7;

/// A call that has not been asked about yet.
struct Candidate {
  std::vector<const Type*> operands;
  std::vector<AttributeValue> attributes;
};

bool isSmall(const Type* type) {
  if (type->isTuple())
    return type->parts.size() <= 6 && std::ranges::all_of(type->parts, isSmall);
  int64_t count = 1;
  for (const Dim* dim : type->shape) {
    if (dim->isConstant() && (dim->value < 0 || dim->value > largestTensor))
      return false;
    count *= dim->isConstant() ? std::max<int64_t>(dim->value, 1) : 3;
  }
  return type->isTensor() && type->dtype.isComputable() && type->dtype.lanes == 1 &&
         count <= largestTensor;
}

/// The calls of an operator inside the examples of its row.
void addExamples(const OperatorRow& row, Reader& reader, Arena& arena,
                 std::vector<Candidate>& found) {
  for (const Example& example : row.examples) {
    ReadText read =
        reader.read("#[version = \"0.0.5\"]\ndef @main() { " + std::string(example.expr) + " }");
    if (!read.isGood())
      continue;
    auto look = [&](const Binding& binding) {
      const auto* call = binding.value->as<Call>();
      const auto* callee = call ? call->callee.value->as<OperatorRef>() : nullptr;
      if (!callee || callee->row != &row || !call->attributes)
        return;
      Candidate candidate;
      for (const Operand& operand : call->arguments)
        candidate.operands.push_back(read.typing.of(*operand.value));
      for (const AttributeValue& value : call->attributes->values)
        candidate.attributes.push_back(copyAttribute(arena, value));
      if (std::ranges::find(candidate.operands, nullptr) == candidate.operands.end())
        found.push_back(std::move(candidate));
    };
    walk(*read.module, look, [](const Operand&) {});
  }
}

/// Finds the samples of one row.
class RowSampler {
public:
  RowSampler(SamplePool& pool, TypeContext& types, const OperatorRow& row, uint64_t seed,
             const SampleOptions& options)
      : pool_(pool), types_(types), row_(row), random_(seed), options_(options),
        draw_(types, random_, options.symbols) {}

  std::vector<const OperatorSample*> find(const std::vector<Candidate>& examples) {
    for (const Candidate& example : examples)
      consider(example);
    std::vector<Candidate> seeds = examples;
    for (size_t round = 0; round < options_.perRow * 8 && found_.size() < options_.perRow;
         ++round) {
      bool isFresh = seeds.empty() || random_.chance(25);
      Candidate next = isFresh ? fresh() : changed(random_.pick(seeds));
      if (consider(next) && seeds.size() < 64)
        seeds.push_back(std::move(next));
    }
    return std::move(found_);
  }

private:
  Candidate fresh() {
    Candidate candidate;
    for (const OperandRow& operand : row_.operands)
      candidate.operands.push_back(draw_.operand(operand));
    auto defaults = stdlib::operatorTable().defaults(&row_);
    for (size_t i = 0; i < defaults.size(); ++i)
      candidate.attributes.push_back(draw_.attribute(pool_.arena, row_.attributes[i], defaults[i]));
    return candidate;
  }

  Candidate changed(Candidate candidate) {
    for (int64_t i = random_.integer(1, 3); i > 0; --i)
      changeOnce(candidate);
    return candidate;
  }

  void changeOnce(Candidate& candidate) {
    size_t choice = random_.index(10);
    if (choice < 3 && !candidate.attributes.empty()) {
      size_t at = random_.index(candidate.attributes.size());
      candidate.attributes[at] =
          draw_.attribute(pool_.arena, row_.attributes[at], candidate.attributes[at]);
    } else if (choice < 8) {
      changeExtent(candidate);
    } else if (choice == 8) {
      changeDType(candidate);
    } else if (!candidate.operands.empty()) {
      size_t at = random_.index(candidate.operands.size());
      candidate.operands[at] = draw_.operand(row_.operands[at]);
    }
  }

  /// Changes an extent wherever it occurs, or at one place.
  void changeExtent(Candidate& candidate) {
    std::vector<const Dim*> dims;
    for (const Type* operand : candidate.operands)
      anyPart(operand, [&](const Type* part) {
        dims.insert(dims.end(), part->shape.begin(), part->shape.end());
        return false;
      });
    if (dims.empty())
      return;
    const Dim* from = random_.pick(dims);
    const Dim* to = draw_.dim();
    bool everywhere = random_.chance(75);
    for (const Type*& operand : candidate.operands)
      operand = changeDims(types_, operand, [&](const Dim* dim) {
        return dim == from && (everywhere || random_.chance(40)) ? to : dim;
      });
  }

  const Type* withDType(const Type* type, runtime::DType from, runtime::DType to) {
    if (type->isTensor())
      return type->dtype == from ? types_.tensor(type->shape, to) : type;
    std::vector<const Type*> parts;
    for (const Type* part : type->parts)
      parts.push_back(withDType(part, from, to));
    return types_.tuple(parts);
  }

  void changeDType(Candidate& candidate) {
    std::vector<const Type*> leaves;
    for (const Type* operand : candidate.operands)
      appendLeafTypes(operand, leaves);
    if (leaves.empty())
      return;
    runtime::DType from = random_.pick(leaves)->dtype, to = draw_.dtype();
    for (const Type*& operand : candidate.operands)
      operand = withDType(operand, from, to);
  }

  /// Keeps a candidate that the relation accepts, with the operands that it asks for.
  bool consider(Candidate candidate) {
    if (candidate.operands.size() != row_.operands.size() ||
        !std::ranges::all_of(candidate.operands, isSmall))
      return false;
    Attributes attributes{row_.attributes, candidate.attributes};
    RelationResult result = relateAdopting(row_, types_, candidate.operands, attributes);
    if (result.outcome != RelationResult::Outcome::Solved || !isSmall(result.output) ||
        !std::ranges::all_of(candidate.operands, isSmall))
      return false;
    std::string key;
    for (const Type* operand : candidate.operands)
      key += typeText(operand) + ";";
    for (const AttributeValue& value : candidate.attributes)
      key += attributeText(value) + ";";
    if (!seen_.insert(key).second)
      return false;
    keep(candidate, result);
    return true;
  }

  void keep(const Candidate& candidate, const RelationResult& result) {
    const Type* output = result.output;
    auto isSymbolic = [](const Type* part) {
      return std::ranges::any_of(
          part->shape, [](const Dim* dim) { return !dim->isConstant() && !dim->isAny(); });
    };
    OperatorSample sample{&row_,
                          candidate.operands,
                          {row_.attributes, pool_.arena.copy(candidate.attributes)},
                          output};
    sample.isDynamic = anyPart(output, [](const Type* part) {
      return std::ranges::any_of(part->shape, [](const Dim* dim) { return dim->isAny(); });
    });
    for (const Type* operand : candidate.operands)
      sample.hasSymbols |= anyPart(operand, isSymbolic);
    for (const DimBound& bound : result.bounds)
      if (!bound.dim->isConstant())
        sample.bounds.push_back(bound);
    pool_.all.push_back(std::move(sample));
    found_.push_back(&pool_.all.back());
    if (!pool_.all.back().isDynamic)
      pool_.byOutput[output].push_back(&pool_.all.back());
  }

  SamplePool& pool_;
  TypeContext& types_;
  const OperatorRow& row_;
  Random random_;
  const SampleOptions& options_;
  OperatorDraw draw_;
  std::vector<const OperatorSample*> found_;
  std::set<std::string> seen_;
};

} // namespace

void fillSamples(SamplePool& pool, Reader& reader, uint64_t seed, const SampleOptions& options) {
  for (const OperatorRow* row : stdlib::operatorTable().all()) {
    // What stands for code is generated by itself, as it is written out before a run, and what ends
    // the run would end most of them.
    if (row->action == Action::Expand || row->role == Role::Fail) {
      pool.byRow.emplace_back();
      continue;
    }
    std::vector<Candidate> examples;
    addExamples(*row, reader, pool.arena, examples);
    RowSampler sampler(pool, reader.types(), *row, mixSeed(seed, row->name), options);
    pool.byRow.push_back(sampler.find(examples));
    const auto& found = pool.byRow.back();
    if (!found.empty() && std::ranges::all_of(found, &OperatorSample::isDynamic))
      pool.dynamicRows.push_back(pool.byRow.size() - 1);
  }
}

namespace {

/// Sizes for the named dimensions of a call, other ones in each trial.
Bindings trialSizes(TypeContext& types, const OperatorSample& sample, int64_t trial) {
  Bindings sizes;
  for (const Type* operand : sample.operands)
    anyPart(operand, [&](const Type* part) {
      for (const Dim* dim : part->shape)
        if (dim->kind == DimKind::Symbol)
          sizes.dims.emplace(dim, types.constant((trial + int64_t(dim->name[0])) % sizeTrials));
      return false;
    });
  return sizes;
}

/// The call with numbers for its named dimensions; its output is what the names promised.
OperatorSample sized(TypeContext& types, const OperatorSample& sample, const Bindings& sizes) {
  OperatorSample call{sample.row, {}, sample.attributes, substitute(types, sample.output, sizes)};
  for (const Type* operand : sample.operands)
    call.operands.push_back(substitute(types, operand, sizes));
  return call;
}

bool faultsForSomeData(TypeContext& types, const OperatorSample& sample) {
  RelationCall call{types, sample.operands, sample.attributes};
  Random random(0);
  for (Data data : allData) {
    auto run =
        runOperator(*sample.row, call, sample.output, operandLeaves(sample.operands, data, random));
    if (!run || !run->problem.empty())
      return true;
  }
  return false;
}

/// The call with the first sizes that fulfil its bounds, if some do.
std::optional<OperatorSample> anySized(TypeContext& types, const OperatorSample& sample) {
  for (int64_t trial = 0; trial < sizeTrials; ++trial) {
    Bindings sizes = trialSizes(types, sample, trial);
    if (fulfils(types, sample, sizes))
      return sized(types, sample, sizes);
  }
  return std::nullopt;
}

} // namespace

bool fulfils(TypeContext& types, const OperatorSample& sample, const Bindings& sizes) {
  auto sizeOf = [&](const Dim* symbol) {
    auto found = sizes.dims.find(symbol);
    return found == sizes.dims.end() ? symbol : found->second;
  };
  return std::ranges::all_of(sample.bounds, [&](const DimBound& bound) {
    const Dim* dim = types.substitute(bound.dim, sizeOf);
    return dim->isConstant() && dim->value >= bound.least && dim->value % bound.divisor == 0;
  });
}

bool mayFault(TypeContext& types, const OperatorSample& sample) {
  if (!sample.faults) {
    auto call = anySized(types, sample);
    sample.faults =
        sample.row->shapeNeeds != ShapeNeeds::Shapes || !call || faultsForSomeData(types, *call);
  }
  return *sample.faults;
}

bool takesOpen(TypeContext& types, const OperatorSample& sample) {
  if (!sample.open) {
    std::vector<const Type*> operands;
    for (const Type* operand : sample.operands)
      operands.push_back(changeDims(types, operand, [&](const Dim*) { return types.any(); }));
    RelationResult result = applyRelation(*sample.row, {types, operands, sample.attributes});
    sample.open = result.outcome != RelationResult::Outcome::Failed;
  }
  return *sample.open;
}

std::string sizeDifference(TypeContext& types, const OperatorSample& sample) {
  if (!sample.hasSymbols || sample.isDynamic)
    return "";
  for (int64_t trial = 0; trial < sizeTrials; ++trial) {
    Bindings sizes = trialSizes(types, sample, trial);
    if (!fulfils(types, sample, sizes))
      continue;
    OperatorSample call = sized(types, sample, sizes);
    RelationResult result = applyRelation(*sample.row, {types, call.operands, call.attributes});
    bool isSolved = result.outcome == RelationResult::Outcome::Solved;
    if (isSolved && result.output == call.output)
      continue;
    std::string text = std::string(sample.row->name) + "(";
    for (size_t i = 0; i < sample.operands.size(); ++i)
      text += typeText(sample.operands[i]) + " as " + typeText(call.operands[i]) + ", ";
    for (size_t i = 0; i < sample.attributes.rows.size(); ++i)
      text += std::string(sample.attributes.rows[i].name) + "=" +
              attributeText(sample.attributes.values[i]) + ", ";
    return text + ") gives " + typeText(sample.output) + ", and with numbers " +
           (isSolved ? typeText(result.output) : "the problem: " + result.problem.plain());
  }
  return "";
}

} // namespace harness
