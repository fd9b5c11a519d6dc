// The boundary to JavaScript of the module that tells facts of PDFs, as facts.cpp is of that for
// all files: Embind only, no logic. Bytes cross as views into the module's memory, which die when
// memory grows.
#include <emscripten/bind.h>

#include <string>

#include "sluice/facts.h"

namespace {

using emscripten::typed_memory_view;
using emscripten::val;

/// What JavaScript holds: a buffer in and a buffer out.
class Facts {
 public:
  val input(size_t size) {
    in_.resize(size);
    return val(typed_memory_view(size, reinterpret_cast<const uint8_t*>(in_.data())));
  }
  val output() const {
    return val(typed_memory_view(out_.size(), reinterpret_cast<const uint8_t*>(out_.data())));
  }

  /// The input is the evidence of a file, the output its description.
  void tell() { out_ = sluice::tell_pdf_facts(in_); }

 private:
  std::string in_;
  std::string out_;
};

}  // namespace

EMSCRIPTEN_BINDINGS(sluice_pdf) {
  emscripten::class_<Facts>("Facts")
      .constructor<>()
      .function("input", &Facts::input)
      .function("output", &Facts::output)
      .function("tell", &Facts::tell);
}
