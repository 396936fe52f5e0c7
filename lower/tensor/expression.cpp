// Names of scalar functions, and tensor functions as text.
//
// A node with several users is written once, under a name, since expressions are graphs whose trees
// can be exponentially larger. Writing uses an explicit stack: expressions may be deep.
#include "lower/tensor/expression.h"

#include <array>
#include <fmt/format.h>
#include <unordered_map>

namespace tensor {

namespace {

constexpr std::array combinerNames{"Sum",        "Product",       "Maximum",    "Minimum",
                                   "All",        "Any",           "ArgMaximum", "ArgMaximumLast",
                                   "ArgMinimum", "ArgMinimumLast"};

std::string_view operatorSign(ScalarFunction function) {
  switch (function) {
  case ScalarFunction::Add:
    return " + ";
  case ScalarFunction::Subtract:
    return " - ";
  case ScalarFunction::Multiply:
    return " * ";
  case ScalarFunction::Divide:
    return " / ";
  case ScalarFunction::Equal:
    return " == ";
  case ScalarFunction::NotEqual:
    return " != ";
  case ScalarFunction::Less:
    return " < ";
  case ScalarFunction::LessEqual:
    return " <= ";
  case ScalarFunction::Greater:
    return " > ";
  case ScalarFunction::GreaterEqual:
    return " >= ";
  default:
    return "";
  }
}

std::string numberText(const ScalarNumber& number) {
  if (!number.dtype.isFloat())
    return fmt::format("{}", number.integer);
  return number.dtype.bits == 64 ? fmt::format("{}", number.real)
                                 : fmt::format("{}", float(number.real));
}

/// A piece of text still to be written: a node, or characters.
struct Piece {
  const ScalarNode* node = nullptr;
  std::string text = {};
};

using Pieces = std::vector<Piece>;

void addList(Pieces& pieces, std::span<const ScalarNode* const> nodes, std::string_view separator) {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i > 0)
      pieces.push_back({nullptr, std::string(separator)});
    pieces.push_back({nodes[i]});
  }
}

void addLoops(Pieces& pieces, std::span<const LoopAxis> axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    pieces.push_back({nullptr, fmt::format("{}i{} < ", i > 0 ? ", " : "", axes[i].number)});
    pieces.push_back({axes[i].extent});
  }
}

void addApply(Pieces& pieces, const ScalarApply& apply) {
  std::string_view sign = operatorSign(apply.function);
  std::string name = sign.empty() ? std::string(scalarFunctionName(apply.function)) : "";
  pieces.push_back({nullptr, name + "("});
  addList(pieces, apply.operands, sign.empty() ? ", " : sign);
  pieces.push_back({nullptr, ")"});
}

void addLoad(Pieces& pieces, const ScalarLoad& load) {
  pieces.push_back({nullptr, fmt::format("{}t{}[", load.outside ? "(" : "", load.tensor)});
  addList(pieces, load.position, ", ");
  pieces.push_back({nullptr, "]"});
  if (!load.outside)
    return;
  pieces.push_back({nullptr, " else "});
  pieces.push_back({load.outside});
  pieces.push_back({nullptr, ")"});
}

/// One node in terms of its operands.
Pieces piecesOf(const ScalarNode* node) {
  Pieces pieces;
  switch (node->kind) {
  case ScalarKind::Number:
    pieces.push_back({nullptr, numberText(*node->as<ScalarNumber>())});
    break;
  case ScalarKind::Index:
    pieces.push_back({nullptr, fmt::format("i{}", node->as<ScalarIndex>()->axis)});
    break;
  case ScalarKind::Extent: {
    const auto* extent = node->as<ScalarExtent>();
    pieces.push_back({nullptr, fmt::format("{}{}.{}", extent->isOfResult ? "result" : "t",
                                           extent->tensor, extent->dim)});
    break;
  }
  case ScalarKind::Load:
    addLoad(pieces, *node->as<ScalarLoad>());
    break;
  case ScalarKind::Apply:
    addApply(pieces, *node->as<ScalarApply>());
    break;
  case ScalarKind::Cast:
    pieces.push_back({nullptr, runtime::dtypeName(node->dtype) + "("});
    pieces.push_back({node->as<ScalarCast>()->operand});
    pieces.push_back({nullptr, ")"});
    break;
  case ScalarKind::Reduce: {
    const auto* reduce = node->as<ScalarReduce>();
    pieces.push_back({nullptr, std::string(combinerNames[size_t(reduce->combiner)]) + "["});
    addLoops(pieces, reduce->axes);
    pieces.push_back({nullptr, "]("});
    pieces.push_back({reduce->body});
    pieces.push_back({nullptr, ")"});
    break;
  }
  }
  return pieces;
}

/// The uses of each node below the given pieces.
std::unordered_map<const ScalarNode*, size_t> countUses(const Pieces& roots) {
  std::unordered_map<const ScalarNode*, size_t> uses;
  Pieces stack = roots;
  while (!stack.empty()) {
    const ScalarNode* node = stack.back().node;
    stack.pop_back();
    if (node && ++uses[node] == 1)
      for (Piece& piece : piecesOf(node))
        stack.push_back(std::move(piece));
  }
  return uses;
}

/// Writes pieces; nodes with several users become `where` lines.
std::string piecesText(Pieces roots) {
  auto uses = countUses(roots);
  std::unordered_map<const ScalarNode*, size_t> names;
  std::vector<const ScalarNode*> named;
  std::string text;
  auto write = [&](Pieces stack) {
    while (!stack.empty()) {
      Piece piece = std::move(stack.back());
      stack.pop_back();
      text += piece.text;
      if (!piece.node)
        continue;
      bool small = piece.node->kind <= ScalarKind::Extent;
      if (!small && uses[piece.node] > 1) {
        auto [place, isNew] = names.try_emplace(piece.node, named.size());
        if (isNew)
          named.push_back(piece.node);
        text += fmt::format("s{}", place->second);
        continue;
      }
      Pieces parts = piecesOf(piece.node);
      stack.insert(stack.end(), std::make_move_iterator(parts.rbegin()),
                   std::make_move_iterator(parts.rend()));
    }
  };
  write({std::make_move_iterator(roots.rbegin()), std::make_move_iterator(roots.rend())});
  for (size_t i = 0; i < named.size(); ++i) {
    text += fmt::format("\n  where s{} = ", i);
    Pieces parts = piecesOf(named[i]);
    write({std::make_move_iterator(parts.rbegin()), std::make_move_iterator(parts.rend())});
  }
  return text;
}

std::string stageText(const TensorFunction& function, const Stage& stage, size_t tensor) {
  const TensorInfo& info = function.tensors[tensor];
  std::string dtype = runtime::dtypeName(info.dtype);
  Pieces pieces{{nullptr, fmt::format("t{}", tensor)}};
  if (stage.kind == StageKind::Map) {
    pieces.push_back({nullptr, "["});
    addLoops(pieces, stage.axes);
    pieces.push_back({nullptr, fmt::format("]: {} = ", dtype)});
    pieces.push_back({stage.body});
    return piecesText(std::move(pieces));
  }
  pieces.push_back({nullptr, "("});
  addList(pieces, info.shape, ", ");
  if (stage.kind == StageKind::Reshape)
    pieces.push_back({nullptr, fmt::format("): {} = reshape t{}", dtype, stage.source)});
  else
    pieces.push_back(
        {nullptr,
         fmt::format("): {} = {}scan {} t{} axis {}", dtype, stage.exclusive ? "exclusive " : "",
                     combinerNames[size_t(stage.combiner)], stage.source, stage.axis)});
  return piecesText(std::move(pieces));
}

} // namespace

std::vector<uint32_t> givenTensors(const TensorFunction& function) {
  std::vector<uint32_t> given;
  for (uint32_t input = 0; input < function.inputCount; ++input)
    given.push_back(input);
  given.insert(given.end(), function.results.begin(), function.results.end());
  return given;
}

std::string tensorFunctionText(const TensorFunction& function) {
  std::string text;
  for (size_t i = 0; i < function.inputCount; ++i) {
    const TensorInfo& info = function.tensors[i];
    Pieces pieces{{nullptr, fmt::format("t{}(", i)}};
    addList(pieces, info.shape, ", ");
    pieces.push_back({nullptr, fmt::format("): {} = input", runtime::dtypeName(info.dtype))});
    text += piecesText(std::move(pieces)) + "\n";
  }
  for (size_t i = 0; i < function.stages.size(); ++i)
    text += stageText(function, function.stages[i], function.inputCount + i) + "\n";
  text += "result";
  for (size_t i = 0; i < function.results.size(); ++i)
    text += fmt::format("{} t{}", i > 0 ? "," : "", function.results[i]);
  return text + "\n";
}

} // namespace tensor
