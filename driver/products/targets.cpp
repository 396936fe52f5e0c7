// Levels of x86-64, and one name for 64-bit Arm.
#include "driver/products/targets.h"

#include "codegen/image/levels.h"

#include <algorithm>

namespace driver {

namespace {

constexpr const char* levelNames[] = {"x86-64-v4", "x86-64-v3", "x86-64-v2", "x86-64"};

} // namespace

runtime::Result<std::vector<Target>> targetsNamed(const std::vector<std::string>& names) {
  std::vector<Target> targets;
  for (const std::string& name : names) {
    auto processor = codegen::targetNamed(name);
    if (!processor)
      return processor.failure();
    std::string known(codegen::levelsOf(name).empty() ? codegen::armTarget : name);
    if (std::ranges::find(targets, known, &Target::name) == targets.end())
      targets.push_back({std::move(known), *std::move(processor)});
  }
  return targets;
}

Target ownTarget() {
  const char* const* best =
      std::ranges::find_if(levelNames, [](const char* name) { return codegen::fitness(name) > 0; });
  std::string name(best == std::end(levelNames) ? codegen::armTarget : *best);
  return {name, *codegen::targetNamed(name)};
}

bool areOfOneFamily(const std::vector<Target>& targets) {
  return std::ranges::all_of(targets, [&](const Target& target) {
    return target.processor.triple == targets[0].processor.triple;
  });
}

} // namespace driver
