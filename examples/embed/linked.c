/* Calls a program that is a shared object, by its header:
 *
 *   baton compile examples/embed/model.rly --emit=so -o model.so
 *   cc -I. examples/embed/linked.c ./model.so -Wl,-rpath,. -o linked
 */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

/* The array belongs to whoever made it, so there is nothing to give back but this. */
static void forget(DLManagedTensor* self) {
  free(self->dl_tensor.shape);
  free(self);
}

static DLManagedTensor* matrix(float* elements, int64_t rows, int64_t columns) {
  DLManagedTensor* managed = calloc(1, sizeof *managed);
  managed->dl_tensor.shape = malloc(2 * sizeof(int64_t));
  managed->dl_tensor.shape[0] = rows;
  managed->dl_tensor.shape[1] = columns;
  managed->dl_tensor.data = elements;
  managed->dl_tensor.device.device_type = 1;
  managed->dl_tensor.ndim = 2;
  managed->dl_tensor.dtype.code = 2;
  managed->dl_tensor.dtype.bits = 32;
  managed->dl_tensor.dtype.lanes = 1;
  managed->deleter = forget;
  return managed;
}

static void show(DLManagedTensor* tensor) {
  const DLTensor* shown = &tensor->dl_tensor;
  int64_t rows = shown->ndim > 1 ? shown->shape[0] : 1, columns = shown->shape[shown->ndim - 1];
  for (int64_t i = 0; i < rows * columns; ++i) {
    char end = (i + 1) % columns ? ' ' : '\n';
    if (shown->dtype.code == 2)
      printf("%g%c", ((float*)shown->data)[i], end);
    else
      printf("%d%c", ((int32_t*)shown->data)[i], end);
  }
  tensor->deleter(tensor);
}

int main(void) {
  float x[] = {1, 2, 3, -1, 0, 1}, weight[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
  DLManagedTensor* results[2];
  baton_error* error = model_main(matrix(x, 2, 3), matrix(weight, 4, 3), results);
  if (error) {
    fprintf(stderr, "%s\n", baton_error_message(error));
    return 1;
  }
  show(results[0]);
  show(results[1]);
  /* After an error what went in is still the caller's. */
  DLManagedTensor *good = matrix(x, 2, 3), *wrong = matrix(weight, 3, 4);
  error = model_main(good, wrong, results);
  printf("%s\n", error ? baton_error_message(error) : "no error");
  baton_error_free(error);
  good->deleter(good);
  wrong->deleter(wrong);
  return 0;
}
