// Warnings by their codes, to turn them off.
#pragma once

#include "lang/source/diagnostic.h"
#include "runtime/result.h"

namespace driver {

/// The warning of that code; the error says that there is none, or that it is an error.
runtime::Result<lang::Message> warningOf(std::string_view code);

} // namespace driver
