#include "codegen/strips/compile/flat.h"

namespace strips {

Form strideOfDimension(sizes::Table& table, std::span<const Form> extents, size_t dimension) {
  Form stride = table.number(1);
  for (size_t i = extents.size(); i-- > dimension + 1;)
    stride = table.product(stride, extents[i]);
  return stride;
}

Form flatPlace(sizes::Table& table, std::span<const Form> extents, std::span<const Form> position) {
  Form flat = table.number(0), stride = table.number(1);
  for (size_t i = extents.size(); i-- > 0;) {
    flat = table.sum(flat, table.product(position[i], stride));
    stride = table.product(stride, extents[i]);
  }
  return flat;
}

Form flatPlace(Nest& nest, const loops::Operation& load) {
  std::vector<Form> position;
  for (const loops::Place& place : load.places)
    position.push_back(place.value == loops::none ? place.form : nest.table.number(0));
  return flatPlace(nest.table, nest.buffers[load.buffer].extents, position);
}

Form flatPlace(Nest& nest, const loops::Store& store) {
  return flatPlace(nest.table, nest.buffers[store.buffer].extents, store.position);
}

} // namespace strips
