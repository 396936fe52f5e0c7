// Catch2's main program for all unit tests; a file of its own because it takes long to compile.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
