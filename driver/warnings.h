// Warnings by their codes, to turn them off.
#pragma once

#include "formats/result.h"
#include "lang/diagnostic.h"

namespace driver {

/// The warning of that code; the error says that there is none, or that it is an error.
formats::Result<lang::Message> warningOf(std::string_view code);

} // namespace driver
