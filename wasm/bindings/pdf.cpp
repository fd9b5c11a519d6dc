// The boundary to JavaScript of the module that tells facts of PDFs.
#include "facts_binding.h"
#include "sluice/facts.h"

EMSCRIPTEN_BINDINGS(sluice_pdf) {
  sluice::FactsBinding<sluice::tell_pdf_facts>::bind();
}
