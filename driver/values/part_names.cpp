#include "driver/values/part_names.h"

#include <fmt/format.h>

namespace driver {

std::string partKey(const std::string& key, std::string_view part) {
  return key.empty() ? std::string(part) : fmt::format("{}.{}", key, part);
}

std::string partKey(const std::string& key, size_t part) {
  return partKey(key, std::to_string(part));
}

std::string fieldName(const lang::Constructor& constructor, size_t field) {
  return field < constructor.fieldNames.size() ? std::string(constructor.fieldNames[field])
                                               : std::to_string(field);
}

std::string_view shortName(const lang::Constructor& constructor) {
  std::string_view type = constructor.definition->name, name = constructor.name;
  std::string_view file = type.substr(0, type.rfind('/') + 1);
  return name.starts_with(file) ? name.substr(file.size()) : name;
}

} // namespace driver
