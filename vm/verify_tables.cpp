// One function for each kind of table.
#include "vm/verify_tables.h"

#include <algorithm>

namespace vm {

namespace {

/// Entries of closures are functions that are called so.
void verifyLayouts(const Program& program) {
  demand(!program.layouts.empty() && program.layouts[0].kind == LayoutKind::Boxed,
         "the first layout is not that of boxed values");
  for (const Layout& layout : program.layouts)
    for (const Layout::Entry& entry : layout.entries) {
      demand(entry.function < program.functions.size() &&
                 entry.signature < program.signatures.size(),
             "an entry of a closure is beyond its table");
      const Function& function = program.functions[entry.function];
      const Signature& signature = program.signatures[entry.signature];
      demand(function.isClosure && std::ranges::equal(function.parameters, signature.parameters) &&
                 function.result == signature.result,
             "an entry of a closure is of another signature");
    }
  for (const Static& each : program.statics)
    demand(each.layout < program.layouts.size() && program.layouts[each.layout].fields.empty() &&
               (each.layout == boxedLayout) == each.value.isSet(),
           "a static object has fields");
}

/// The machine writes into calls how far away functions are, so no word is of two functions.
void verifyRanges(const Program& program) {
  std::vector<std::pair<size_t, size_t>> ranges;
  for (const Function& function : program.functions)
    ranges.emplace_back(function.start, function.start + size_t(function.size));
  std::ranges::sort(ranges);
  for (size_t i = 1; i < ranges.size(); ++i)
    demand(ranges[i - 1].second <= ranges[i].first, "functions share code");
}

void verifyResults(const Program& program, const HostSite& site, const KernelSite& called) {
  auto demandResult = [](Rep rep, const KernelResult& result) {
    demand(rep.isScalar() == result.isScalar && (rep.isScalar() || rep.hold == Hold::Owned),
           "a kernel gives another result");
  };
  if (called.resultLayout == none) {
    demand(called.results.size() == 1 && site.hasResult, "a kernel gives another result");
    return demandResult(site.result, called.results[0]);
  }
  demand(called.resultLayout < program.layouts.size() && site.hasResult &&
             !site.result.isScalar() &&
             program.layouts[called.resultLayout].fields.size() == called.results.size(),
         "a kernel gives another result");
  for (size_t i = 0; i < called.results.size(); ++i)
    demandResult(program.layouts[called.resultLayout].fields[i], called.results[i]);
}

/// What a kernel takes is in the operands of its site; that they are such tuples and tensors is
/// compared when it is called.
void verifyKernel(const Program& program, const HostSite& site) {
  demand(site.kernel < program.kernels.size(), "a kernel is beyond its table");
  const KernelSite& called = program.kernels[site.kernel];
  demand(called.function.inputCount == called.inputs.size() &&
             called.function.results.size() == called.results.size(),
         "a kernel is for other operands or results");
  for (const KernelInput& input : called.inputs) {
    demand(input.operand < site.operands.size(), "a kernel takes an operand that there is not");
    Rep rep = site.operands[input.operand];
    for (KernelStep step : input.path) {
      demand(!rep.isScalar() && step.layout < program.layouts.size() &&
                 step.field < program.layouts[step.layout].fields.size(),
             "a kernel takes a field that there is not");
      rep = program.layouts[step.layout].fields[step.field];
    }
    demand(rep.isScalar() == input.isScalar && (!input.isScalar || rep.dtype == input.dtype),
           "a kernel takes another element type");
  }
  verifyResults(program, site, called);
}

} // namespace

void verifyTables(const Program& program) {
  verifyLayouts(program);
  verifyRanges(program);
  for (const HostSite& site : program.sites)
    if (site.kernel != HostSite::noKernel)
      verifyKernel(program, site);
}

} // namespace vm
