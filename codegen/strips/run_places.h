// Where the largest or the smallest value is. A part of run.h.
#pragma once

#include "codegen/strips/program.h"

namespace strips {

/// What Code::JoinPlaces does.
void joinPlaces(const Instruction& how, std::byte* const* registers, size_t count);

} // namespace strips
