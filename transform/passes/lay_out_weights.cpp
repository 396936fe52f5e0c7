// Constant weights in the order in which kernels read them: in panels, each of some outputs side by
// side, with all that is summed up for these.
//
//   nn.conv2d(%x, %w, ...)     // %w: a constant, Tensor[(128, 64, 3, 3), float32]
// =>
//   let %p = ...;              // its elements as Tensor[(4, 64, 3, 3, 32), float32]
//   nn.conv2d(%x, layout_transform(%p, src_layout="ABCD32a", dst_layout="ABCD"), ...)
//
// A kernel of both reads the panels where they lie (lower/loops/choose_panels.h), so nothing is
// moved in a run. Which weights those of sums are is read off the tensor function, as for factors
// (`fold-scales`): elements that belong to one position of the result. Panels are for kernels whose
// lanes go over these positions: where windows slide over the other operand, and where a result
// ends with them, as that of a dense layer, unless it has so few rows that it reads weights as they
// lie. A dimension that no panels fill stays.
#include "lang/calls/call_function.h"
#include "lang/ir/rewrite.h"
#include "lang/op/leaves.h"
#include "lang/op/op.h"
#include "lower/loops/choose_windows.h"
#include "lower/tensor/access.h"
#include "lower/tensor/factor_paths.h"
#include "transform/analysis/constant_uses.h"
#include "transform/analysis/effects.h"
#include "transform/analysis/placement.h"
#include "transform/passes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

namespace transform {

using namespace lang;
using runtime::Tensor;

namespace {

/// How wide panels are: as wide as fits.
constexpr int64_t panelSizes[] = {32, 16}, productPanelSizes[] = {64, 32, 16};
/// Weights of fewer elements are read in other ways, and so are those of a product of fewer rows.
constexpr int64_t fewestElements = 256, fewestRowsOfPanels = 8;

struct Panels {
  /// The argument that is weights, and where that is bound, unless it stands in the call.
  size_t operand;
  const Binding* bound;
  size_t dim;
  int64_t size;
  Tensor tensor;
};

/// `weights` of dimension `dim` in panels: [dim / size][dimensions before][those behind][size].
Tensor inPanels(const Tensor& weights, size_t dim, int64_t size) {
  const runtime::Shape& from = weights.shape();
  runtime::Shape shape{from[dim] / size};
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < from.size(); ++i) {
    if (i != dim)
      shape.push_back(from[i]);
    (i < dim ? outer : inner) *= i == dim ? 1 : from[i];
  }
  shape.push_back(size);
  Tensor made(weights.dtype(), std::move(shape));
  const size_t bytes = weights.dtype().bytes();
  const auto* source = reinterpret_cast<const std::byte*>(weights.bytes());
  auto* target = reinterpret_cast<std::byte*>(made.bytes());
  for (int64_t panel = 0; panel < from[dim] / size; ++panel)
    for (int64_t before = 0; before < outer; ++before)
      for (int64_t behind = 0; behind < inner; ++behind)
        for (int64_t i = 0; i < size; ++i, target += bytes)
          std::memcpy(target,
                      source + size_t(((before * from[dim] + panel * size + i) * inner) + behind) *
                                   bytes,
                      bytes);
  return made;
}

/// What the loads of a function tell of a dimension of its result that is one of some weights.
struct Loads {
  /// Whether some position of another input hangs on it, or goes over windows: is made of two axes.
  bool hangOnDim = false, goOverWindows = false;
  /// Whether all other dimensions of the weights are summed up.
  bool isContracted = true;
};

Loads loadsOf(const tensor::TensorFunction& function, uint32_t weights, size_t dim) {
  Loads found;
  auto axesIn = [](const tensor::ScalarNode* position) {
    std::set<uint32_t> axes;
    tensor::forEachNode(position, [&](const tensor::ScalarNode& node) {
      if (const auto* index = node.as<tensor::ScalarIndex>())
        axes.insert(index->axis);
    });
    return axes;
  };
  for (const tensor::Stage& stage : function.stages) {
    if (stage.kind != tensor::StageKind::Map)
      continue;
    tensor::forEachNode(stage.body, [&](const tensor::ScalarNode& node) {
      const auto* load = node.as<tensor::ScalarLoad>();
      if (!load)
        return;
      for (const tensor::ScalarNode* position : load->position) {
        std::set<uint32_t> axes = axesIn(position);
        if (load->tensor == weights) {
          for (const tensor::LoopAxis& axis : stage.axes)
            found.isContracted &=
                axis.number == stage.axes[dim].number || !axes.contains(axis.number);
          continue;
        }
        found.hangOnDim |= axes.contains(stage.axes[dim].number);
        found.goOverWindows |= axes.size() > 1;
      }
    });
  }
  return found;
}

class Finder {
public:
  Finder(const Module& module, const Typing& typing) : typing_(typing), uses_(module) {
    forEachBlockOf(module, [&](const Block& block) {
      for (const Binding& binding : block.bindings)
        look(binding);
    });
  }

  std::unordered_map<const Binding*, Panels> found;

private:
  void look(const Binding& binding) {
    const Type* type = typing_.of(*binding.var);
    if (!tensorFunctionRow(*binding.value) || !type || !type->isTensor() ||
        !std::ranges::all_of(type->shape, [](const Dim* dim) { return dim->isConstant(); }))
      return;
    const auto& call = static_cast<const Call&>(*binding.value);
    for (uint32_t i = 0, input = 0; i < call.arguments.size(); ++i) {
      const Tensor* weights = constantOf(*call.arguments[i].value);
      if (weights && weights->size() >= fewestElements)
        if (auto panels = panelsOf(binding, *type, i, input, *weights)) {
          found.emplace(&binding, *std::move(panels));
          return;
        }
      input += uint32_t(tensorCount(typing_.of(*call.arguments[i].value)));
    }
  }

  /// Where a variable is bound that is used once, or null.
  const Binding* boundBy(const Expr& atom) const {
    const auto* var = atom.as<Var>();
    return var && uses_.userOf(*var) ? uses_.bindingOf(*var) : nullptr;
  }

  /// The tensor of an atom that is a constant and is used once.
  const Tensor* constantOf(const Expr& atom) const {
    const Binding* made = boundBy(atom);
    const auto* constant = made ? made->value->as<Constant>() : atom.as<Constant>();
    return constant ? constant->tensor : nullptr;
  }

  std::optional<Panels> panelsOf(const Binding& binding, const Type& type, uint32_t operand,
                                 uint32_t input, const Tensor& weights) {
    const auto& call = static_cast<const Call&>(*binding.value);
    auto function = functionOfCall(call, &type, typing_);
    if (!function)
      return std::nullopt;
    for (const tensor::FactorPath& path : tensor::factorPaths(*function, input, 0)) {
      if (path.dimCount != 1)
        continue;
      Loads loads = loadsOf(*function, input, path.resultDim);
      std::span<const int64_t> sizes;
      if (isOfWindows(loads, type, path, weights))
        sizes = panelSizes;
      else if (isOfProducts(loads, type, path, weights))
        sizes = productPanelSizes;
      int64_t count = weights.shape()[path.firstDim];
      auto size = std::ranges::find_if(sizes, [&](int64_t each) { return count % each == 0; });
      if (size != sizes.end())
        return Panels{operand, boundBy(*call.arguments[operand].value), path.firstDim, *size,
                      panelsOf(weights, path.firstDim, *size)};
    }
    return std::nullopt;
  }

  /// Made once of weights that several calls are given.
  const Tensor& panelsOf(const Tensor& weights, size_t dim, int64_t size) {
    auto [made, isNew] = made_.try_emplace({weights.bytes(), weights.shape(), dim, size});
    if (isNew)
      made->second = inPanels(weights, dim, size);
    return made->second;
  }

  /// How many elements of a result have one position in the dimension that weights give.
  static int64_t pointsBeside(const Type& type, const tensor::FactorPath& path) {
    int64_t points = 1;
    for (size_t i = 0; i < type.shape.size(); ++i)
      points *= i == path.resultDim ? 1 : type.shape[i]->value;
    return points;
  }

  /// Whether windows are multiplied by kernels that do not lie side by side anyway.
  static bool isOfWindows(const Loads& loads, const Type& type, const tensor::FactorPath& path,
                          const Tensor& weights) {
    return loads.goOverWindows && !loads.hangOnDim && path.firstDim + 1 < weights.rank() &&
           pointsBeside(type, path) >= loops::fewestSumsOfPanels;
  }

  /// Whether rows are multiplied by a matrix; a few of them read that as it lies.
  static bool isOfProducts(const Loads& loads, const Type& type, const tensor::FactorPath& path,
                           const Tensor& weights) {
    return loads.isContracted && !loads.goOverWindows && !loads.hangOnDim &&
           path.resultDim + 1 == type.shape.size() && weights.dtype().isFloat() &&
           pointsBeside(type, path) >= fewestRowsOfPanels;
  }

  const Typing& typing_;
  ConstantUses uses_;
  /// By elements, shape, dimension and size of panels.
  std::map<std::tuple<const std::byte*, runtime::Shape, size_t, int64_t>, Tensor> made_;
};

class PanelWriter : public Rewriter {
public:
  PanelWriter(const Module& from, Builder& into, const Finder& found, PanelReader readPanels)
      : Rewriter(from, into), found_(found.found), readPanels_(readPanels) {
    for (const auto& [call, panels] : found_)
      replaced_.insert(panels.bound);
  }

private:
  /// The weights as they were are gone.
  Fate enter(const Binding& binding) override {
    if (auto panels = found_.find(&binding); panels != found_.end() && panels->second.bound)
      substitute(*panels->second.bound->var, make.tensor(panels->second.tensor));
    return replaced_.contains(&binding) ? Fate::Drop : Fate::Copy;
  }

  Atom bind(const Binding& old, const Expr* value, BlockBuilder& out) override {
    auto panels = found_.find(&old);
    if (panels == found_.end())
      return Rewriter::bind(old, value, out);
    const Panels& made = panels->second;
    Call* call = make.arena.make<Call>(*value->as<Call>());
    std::vector<Operand> arguments(call->arguments.begin(), call->arguments.end());
    arguments[made.operand].value = readPanels_(out, out.bind(make.tensor(made.tensor)),
                                                made.tensor.rank() - 1, made.dim, made.size);
    call->arguments = make.arena.copy(arguments);
    return Rewriter::bind(old, call, out);
  }

  const std::unordered_map<const Binding*, Panels>& found_;
  PanelReader readPanels_;
  std::set<const Binding*> replaced_;
};

} // namespace

std::unique_ptr<Module> layOutWeights(const Module& module, const PassContext& context) {
  if (!context.readPanels || writesTensors(module))
    return nullptr;
  Finder finder(module, context.typing);
  if (finder.found.empty())
    return nullptr;
  auto made = rewritten<PanelWriter>(module, context.operators, finder, context.readPanels);
  return place(*made, context.operators, {.keepsFaults = true});
}

} // namespace transform
