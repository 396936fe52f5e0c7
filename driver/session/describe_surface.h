// What is said of attributes and named sizes.
#pragma once

#include "driver/session/find_surface.h"
#include "driver/session/hover.h"

namespace driver {

/// The attribute or size at a place; nothing when there is none, or nothing is known of it.
std::optional<Hover> describeSurface(const Session& session, const Program& program,
                                     const SurfaceAt& at);

} // namespace driver
