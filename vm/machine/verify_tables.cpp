// One function for each kind of table.
#include "vm/machine/verify_tables.h"

#include "codegen/strips/verify.h"
#include "vm/machine/native.h"

#include <algorithm>

namespace vm {

namespace {

/// Entries of closures are functions that are called so.
void verifyLayouts(const Program& program) {
  demand(!program.layouts.empty(), "there is no layout of boxed values");
  for (const Layout& layout : program.layouts) {
    bool isBoxed = layout.kind == LayoutKind::Boxed;
    size_t most = isBoxed ? 0 : layout.kind == LayoutKind::Cell ? 1 : size_t(none - 1);
    demand(isBoxed == (&layout == &program.layouts[0]) && layout.fields.size() <= most &&
               (layout.kind != LayoutKind::Cell || layout.fields.size() == 1),
           "a layout has more fields, or fewer, than its objects");
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
  }
  for (const Static& each : program.statics)
    demand(each.layout < program.layouts.size() && program.layouts[each.layout].fields.empty() &&
               (each.layout == boxedLayout) == each.value.isSet(),
           "a static object has fields");
}

/// The machine writes into calls how far away functions are, so no word is of two functions.
void verifyRanges(const Program& program) {
  std::vector<uint8_t> isTaken(program.code.size());
  for (const Function& function : program.functions) {
    size_t end = std::min(function.start + size_t(function.size), isTaken.size());
    for (size_t at = function.start; at < end; ++at)
      demand(!std::exchange(isTaken[at], true), "functions share code");
  }
}

void verifyResults(const Program& program, const HostSite& site, const KernelSite& called) {
  auto demandResult = [&](Rep rep, size_t i) {
    runtime::DType dtype = called.function.tensors[called.function.results[i]].dtype;
    demand(rep.isScalar() == called.results[i].isScalar &&
               (rep.isScalar() ? rep.dtype == dtype : rep.hold == Hold::Owned),
           "a kernel gives another result");
  };
  if (called.resultLayout == none) {
    demand(called.results.size() == 1 && site.hasResult, "a kernel gives another result");
    return demandResult(site.result, 0);
  }
  demand(called.resultLayout < program.layouts.size() && site.hasResult &&
             !site.result.isScalar() &&
             program.layouts[called.resultLayout].kind == LayoutKind::Tuple &&
             program.layouts[called.resultLayout].fields.size() == called.results.size(),
         "a kernel gives another result");
  for (size_t i = 0; i < called.results.size(); ++i)
    demandResult(program.layouts[called.resultLayout].fields[i], i);
}

void demandGood(const char* problem) {
  demand(!problem, problem);
}

/// What a site knows of extents is of as many as its tensors have.
void verifyExtents(const KernelSite& called) {
  size_t inputs = 0, results = 0;
  for (size_t i = 0; i < called.inputs.size(); ++i) {
    const tensor::TensorInfo& tensor = called.function.tensors[i];
    demand(tensor.dtype == called.inputs[i].dtype && tensor.shape.size() == called.inputs[i].rank &&
               (!called.inputs[i].isScalar || called.inputs[i].rank == 0),
           "a kernel is for other tensors");
    inputs += called.inputs[i].rank;
  }
  for (size_t i = 0; i < called.results.size(); ++i) {
    const tensor::TensorInfo& tensor = called.function.tensors[called.function.results[i]];
    demand(tensor.shape.size() == called.results[i].rank &&
               (!called.results[i].isScalar || called.results[i].rank == 0),
           "a kernel is for other tensors");
    results += called.results[i].rank;
  }
  demandGood(problemOf(called.shapes, inputs, results));
}

/// What is taken is in the operands of the site; that they are such tuples and tensors is compared
/// when it is called.
void verifyInputs(const Program& program, const HostSite& site, std::span<const SiteInput> inputs) {
  for (const SiteInput& input : inputs) {
    demand(input.operand < site.operands.size(), "a call takes an operand that there is not");
    Rep rep = site.operands[input.operand];
    for (SiteStep step : input.path) {
      demand(!rep.isScalar() && step.layout < program.layouts.size() &&
                 step.field < program.layouts[step.layout].fields.size(),
             "a call takes a field that there is not");
      rep = program.layouts[step.layout].fields[step.field];
    }
    demand(rep.isScalar() == input.isScalar && (!input.isScalar || rep.dtype == input.dtype),
           "a call takes another element type");
  }
}

void verifyKernel(const Program& program, const HostSite& site) {
  demand(site.kernel < program.kernels.size(), "a kernel is beyond its table");
  const KernelSite& called = program.kernels[site.kernel];
  demand(called.function.inputCount == called.inputs.size() &&
             called.function.results.size() == called.results.size(),
         "a kernel is for other operands or results");
  verifyInputs(program, site, called.inputs);
  verifyResults(program, site, called);
  verifyExtents(called);
  for (const strips::SizedProgram& sized : called.programs)
    demandGood(strips::problemOf(sized, called.function));
}

/// A native function is called with what it takes, and gives what the site does.
void verifyNative(const Program& program, const HostSite& site) {
  demand(site.kind == SiteKind::Language && site.kernel == HostSite::noKernel &&
             site.native < program.natives.size() && program.natives[site.native].function,
         "a native function is beyond its table");
  verifyInputs(program, site, program.natives[site.native].inputs);
  demandGood(nativeProblem(program, site));
}

/// Whether a reference is in an operand.
bool isReference(const HostSite& site, size_t i) {
  return i < site.operands.size() && !site.operands[i].isScalar();
}

/// A site has the operands and the result that the machine takes for granted of its kind.
void verifySite(const Program& program, const HostSite& site) {
  const checks::Tables& tables = program.checks;
  const size_t count = site.operands.size();
  auto demandSite = [](bool holds) { demand(holds, "a site is not of its kind"); };
  auto demandCheck = [&](const auto& table) {
    demand(site.check < table.size(), "a check is beyond its table");
  };
  for (size_t i = 0; i < site.given.size(); ++i)
    demand(site.kind == SiteKind::Language && isReference(site, site.given[i]) &&
               (i == 0 || site.given[i - 1] < site.given[i]),
           "a site is given what is no reference");
  bool givesSizes = site.kind == SiteKind::Arguments || site.kind == SiteKind::OuterSizes;
  bool givesBool = site.kind == SiteKind::Unbox;
  if (site.kind != SiteKind::Language) {
    demandSite(site.kind <= SiteKind::Unbox && site.kernel == HostSite::noKernel &&
               site.hasResult == (givesSizes || givesBool));
    demandSite(!givesSizes || site.result == Rep{Hold::Owned});
    demandSite(!givesBool || site.result == Rep{Hold::Scalar, runtime::Bool});
  }
  switch (site.kind) {
  case SiteKind::Language:
    return demandSite(site.hasResult && site.op < program.operators.size());
  case SiteKind::Show:
    return demandSite(count == 1 && site.check > 0 &&
                      (site.op == checks::none || site.op < program.operators.size()));
  case SiteKind::Unmatched:
    return demandSite(count == 1 &&
                      (site.op == checks::none || site.op < program.operators.size()));
  case SiteKind::Arguments:
    demandCheck(tables.functions);
    demandSite(!site.hasOuterSizes || isReference(site, count - 1));
    return demandSite(std::ranges::all_of(
        tables.functions[site.check].parameters, [&](const checks::Parameter& each) {
          return each.position < count - (site.hasOuterSizes ? 1 : 0);
        }));
  case SiteKind::OuterSizes:
    demandCheck(tables.functions);
    return demandSite(count == 0 || (count == 1 && isReference(site, 0)));
  case SiteKind::Value:
    demandCheck(tables.values);
    return demandSite(count == 1 || (count == 2 && isReference(site, 1)));
  case SiteKind::Result:
    demandCheck(tables.functions);
    return demandSite(count == 2 && isReference(site, 1) && tables.functions[site.check].result);
  case SiteKind::Fields:
    demandCheck(tables.fields);
    return demandSite(count == tables.fields[site.check].fields.size() &&
                      site.caller < program.callers.size());
  case SiteKind::Deliver:
    return demandSite(count == 2 && isReference(site, 1) && site.op < program.operators.size());
  case SiteKind::Unbox:
    return demandSite(count == 1 && isReference(site, 0));
  }
}

void verifyChecks(const checks::Tables& tables) {
  demandGood(problemOf(tables.sizes));
  auto demandType = [&](const checks::Declared& type) {
    demandGood(problemOf(type, tables.sizes));
  };
  auto demandSize = [&](uint32_t size) {
    demand(size < tables.sizes.size(), "an extent is beyond its table");
  };
  for (const checks::FunctionCheck& check : tables.functions) {
    size_t next = 0;
    for (const checks::Parameter& each : check.parameters) {
      demandType(each.type);
      demand(each.position >= next, "the parameters of a check are in no order");
      next = size_t(each.position) + 1;
    }
    if (check.result)
      demandType(*check.result);
    std::ranges::for_each(check.outer, demandSize);
    for (const checks::Need& need : check.needs) {
      demandSize(need.size);
      demand(need.divisor > 0, "a size is to be a multiple of nothing");
    }
  }
  for (const checks::ValueCheck& check : tables.values) {
    demandType(check.type);
    demand(check.function == checks::none || check.function < tables.functions.size(),
           "a check is beyond its table");
  }
  for (const checks::FieldsCheck& check : tables.fields)
    std::ranges::for_each(check.fields, demandType);
}

/// A scalar fits into a slot.
void verifyReps(const Program& program) {
  auto demandRep = [](Rep rep) {
    demand(!rep.isScalar() || (rep.dtype.lanes == 1 && rep.dtype.isComputable()),
           "a scalar is of no element type to compute with");
  };
  for (const Layout& layout : program.layouts)
    std::ranges::for_each(layout.fields, demandRep);
  for (const Signature& signature : program.signatures) {
    std::ranges::for_each(signature.parameters, demandRep);
    demandRep(signature.result);
  }
  for (const Function& function : program.functions) {
    std::ranges::for_each(function.parameters, demandRep);
    demandRep(function.result);
    std::ranges::for_each(function.flat, demandRep);
    demand(function.flat.empty() || (!function.isClosure && !function.result.isScalar()),
           "a function cannot give a tuple's fields");
  }
  for (const HostSite& site : program.sites) {
    std::ranges::for_each(site.operands, demandRep);
    demandRep(site.result);
  }
}

void verifyOrigins(const Program& program) {
  for (const Place& place : program.places)
    demand(place.origin < program.origins.size(), "an origin is beyond its table");
  demand(std::ranges::adjacent_find(program.places, std::ranges::greater_equal(), &Place::start) ==
             program.places.end(),
         "places are in no order");
  for (const Origin& origin : program.origins)
    demand((origin.op == checks::none || origin.op < program.operators.size()) &&
               (origin.caller == checks::none || origin.caller < program.callers.size()),
           "an origin is beyond its table");
}

} // namespace

void verifyTables(const Program& program) {
  // Linked calls count bytes in 32 bits.
  constexpr size_t mostCode = size_t(1) << 28;
  demand(program.code.size() <= mostCode, "its code is longer than two gigabytes");
  verifyReps(program);
  verifyLayouts(program);
  verifyRanges(program);
  verifyChecks(program.checks);
  verifyOrigins(program);
  for (const HostSite& site : program.sites) {
    verifySite(program, site);
    if (site.kernel != HostSite::noKernel)
      verifyKernel(program, site);
    if (site.native != checks::none)
      verifyNative(program, site);
  }
  for (uint32_t entry : program.entries)
    demand(entry < program.functions.size() && !program.functions[entry].isClosure &&
               program.functions[entry].flat.empty(),
           "an entry is no function");
}

} // namespace vm
