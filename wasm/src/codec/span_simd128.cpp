#include "codec/kernels.h"

#ifdef __wasm_simd128__

#include "codec/classify_simd128.h"

namespace sluice::codec::simd128 {

namespace {

template <Set set>
size_t blocks(Bytes text) {
  const Classifier<set> classifier;
  const auto outside = [&](size_t at) {
    return classifier.outside(wasm_v128_load(text.data() + at));
  };
  size_t at = 0;
  for (; text.size() - at >= 64; at += 64) {
    const v128_t front = wasm_v128_or(outside(at), outside(at + 16));
    const v128_t back = wasm_v128_or(outside(at + 32), outside(at + 48));
    if (wasm_v128_any_true(wasm_v128_or(front, back))) break;
  }
  for (; text.size() - at >= 16; at += 16) {
    if (wasm_v128_any_true(outside(at))) break;
  }
  return at;
}

}  // namespace

size_t span(Bytes text, Set set) {
  switch (set) {
    case Set::standard:
      return blocks<Set::standard>(text);
    case Set::url:
      return blocks<Set::url>(text);
    case Set::hex:
      return blocks<Set::hex>(text);
    case Set::any_base64:
      break;
  }
  return blocks<Set::any_base64>(text);
}

}  // namespace sluice::codec::simd128

#endif
