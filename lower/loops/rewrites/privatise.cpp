// Scratch of all iterations as scratch of one. Along a dimension that every access walks by k a
// step of the loop, k elements are kept; a dimension of one element goes.
#include "lower/loops/edit.h"
#include "lower/loops/rewrite.h"

#include <fmt/format.h>

namespace loops::rewrites {

namespace {

/// How far a form goes with a variable, if that is a number.
std::optional<int64_t> strideOf(Nest& nest, Form form, Name variable) {
  Form zero = nest.table.replaced(form, {{variable, nest.table.number(0)}});
  Form one = nest.table.replaced(form, {{variable, nest.table.number(1)}});
  Form stride = nest.table.sum(one, zero, -1);
  Form remade = nest.table.sum(zero, nest.table.product(variableForm(nest, variable), stride));
  return remade == form ? nest.table.constantOf(stride) : std::nullopt;
}

/// Calls `change` with each form by which a dimension is accessed.
void changeDimension(std::vector<Node>& body, uint32_t buffer, size_t dimension,
                     const std::function<void(Form&)>& change) {
  forEachAccess(
      body, buffer, [&](std::vector<Form>& position) { change(position[dimension]); },
      [&](Operation& load) {
        if (load.places[dimension].value != none)
          refuse("it is read at places that are no forms");
        change(load.places[dimension].form);
      });
}

} // namespace

void privatise(Nest& nest, Arguments arguments) {
  uint32_t buffer = findScratch(nest, arguments[0]);
  Spot spot = findLoop(nest, arguments[1]);
  Name variable = spot.loop().variable;
  Spot allocation = findAllocation(nest, buffer);
  if (allocation.body != spot.body)
    refuse(fmt::format("`{}` is not allocated beside `{}`", arguments[0], arguments[1]));
  for (size_t i = 0; i < spot.body->size(); ++i)
    if (i != spot.at && uses((*spot.body)[i], buffer))
      refuse(fmt::format("`{}` is used outside of `{}`", arguments[0], arguments[1]));
  std::vector<Node>& body = spot.node().body;
  std::vector<Form>& extents = nest.buffers[buffer].extents;
  for (size_t i = extents.size(); i-- > 0;) {
    std::optional<int64_t> stride;
    bool isEven = true, isOne = nest.table.constantOf(extents[i]) == 1;
    changeDimension(body, buffer, i, [&](Form& form) {
      auto own = strideOf(nest, form, variable);
      isEven = isEven && own && (!stride || *stride == *own);
      stride = own;
    });
    if (!isOne) {
      if (!isEven || !stride || *stride < 1)
        continue;
      changeDimension(body, buffer, i, [&](Form& form) {
        form = nest.table.sum(form, variableForm(nest, variable), -*stride);
        if (auto at = nest.table.constantOf(form); at && (*at < 0 || *at >= *stride))
          refuse(fmt::format("`{}` is used at elements of other iterations", arguments[0]));
      });
      extents[i] = nest.table.number(*stride);
      if (*stride > 1)
        continue;
    }
    extents.erase(extents.begin() + ptrdiff_t(i));
    forEachAccess(
        body, buffer,
        [&](std::vector<Form>& position) { position.erase(position.begin() + ptrdiff_t(i)); },
        [&](Operation& load) { load.places.erase(load.places.begin() + ptrdiff_t(i)); });
  }
  body.insert(body.begin(), Node{Allocation{buffer}});
  spot.body->erase(spot.body->begin() + ptrdiff_t(allocation.at));
}

} // namespace loops::rewrites
