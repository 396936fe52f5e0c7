#include "stdlib/rows_at_once.h"

namespace stdlib {

using lang::Atom;

const lang::Var* joinedRows(lang::BlockBuilder& out, const std::vector<Atom>& rows) {
  return out.call("concatenate", {out.tuple(rows)}, {{"axis", 0}});
}

std::vector<Atom> splitRows(lang::BlockBuilder& out, Atom joined, size_t count) {
  Atom parts = out.call("split", {joined}, {{"indices_or_sections", count}, {"axis", 0}});
  std::vector<Atom> rows;
  for (size_t i = 0; i < count; ++i)
    rows.push_back(out.project(parts, uint32_t(i)));
  return rows;
}

} // namespace stdlib
