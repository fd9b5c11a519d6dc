// The boundary to JavaScript of the module that tells facts of files.
#include "sluice/facts.h"

#include "facts_binding.h"

EMSCRIPTEN_BINDINGS(sluice_facts) {
  sluice::FactsBinding<sluice::tell_facts>::bind();
}
