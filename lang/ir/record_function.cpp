// Capitals begin words.
#include "lang/ir/record_function.h"

namespace lang {

std::string recordFunctionName(std::string_view type) {
  std::string name;
  for (char letter : type) {
    bool isCapital = letter >= 'A' && letter <= 'Z';
    if (isCapital && !name.empty() && name.back() != '/' && name.back() != '_')
      name += '_';
    name += isCapital ? char(letter - 'A' + 'a') : letter;
  }
  return name;
}

std::string recordDefaultName(std::string_view function, std::string_view parameter) {
  return std::string(function) + " default " + std::string(parameter);
}

} // namespace lang
