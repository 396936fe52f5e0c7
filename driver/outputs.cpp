// Two paths may lead to one file, which need not be there yet. Devices and pipes take whatever
// comes and lose nothing.
#include "driver/outputs.h"

#include "runtime/formats/file.h"
#include "runtime/formats/quote.h"

#include <filesystem>
#include <fmt/format.h>

namespace driver {

namespace {

namespace fs = std::filesystem;

bool areSame(const std::string& one, const std::string& other) {
  std::error_code none;
  if (fs::exists(one, none))
    return fs::equivalent(one, other, none) && formats::isRegularFile(one);
  const fs::path path = fs::weakly_canonical(fs::absolute(one, none), none);
  return !path.empty() && path == fs::weakly_canonical(fs::absolute(other, none), none);
}

} // namespace

std::string outputProblem(const std::string& file, const std::vector<OutputPath>& outputs) {
  for (auto output = outputs.begin(); output != outputs.end(); ++output) {
    if (!output->path)
      continue;
    if (*output->path == "-")
      return fmt::format("`{}` takes the path of a file, and `-` is none", output->option);
    if (file != "-" && areSame(file, *output->path))
      return fmt::format("what `{}` writes would take the place of {}, which is read; give another "
                         "path",
                         output->option, formats::backquoted(file));
    for (auto before = outputs.begin(); before != output; ++before)
      if (before->path && areSame(*before->path, *output->path))
        return fmt::format("`{}` and `{}` cannot both go to one file", before->option,
                           output->option);
    if (auto good = formats::checkWritable(*output->path); !good)
      return good.failure().message;
  }
  return "";
}

} // namespace driver
