// The hot loops, twice: `scalar` does whole inputs and alone finds where an error is; `simd128`
// does as many leading whole blocks as are free of errors and leaves the rest to its twin.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/alphabet.h"
#include "sluice/codec.h"

namespace sluice::codec {

namespace scalar {

/// Length of the leading stretch of `text` inside `set`.
size_t span(Bytes text, Set set);

/// Whole quanta of base64 (standard or url) up to the first that holds a foreign character.
Decoded decode_base64(Bytes text, Alphabet alphabet, uint8_t* out);

/// Whole pairs of hex digits up to the first that holds a foreign character.
Decoded decode_hex(Bytes text, uint8_t* out);

/// Encodes whole groups of three bytes into four characters; gives the bytes read.
size_t encode_base64(Bytes bytes, Alphabet alphabet, char* out);

/// Encodes every byte into two digits; gives the bytes read.
size_t encode_hex(Bytes bytes, bool upper, char* out);

}  // namespace scalar

/// Same contracts, but each may stop early, at the end of any 16-byte block. `decode_base64` stores
/// 16 bytes where 12 count, so it may write 4 bytes past `written`.
namespace simd128 {

#ifdef __wasm_simd128__
size_t span(Bytes text, Set set);
Decoded decode_base64(Bytes text, Alphabet alphabet, uint8_t* out);
Decoded decode_hex(Bytes text, uint8_t* out);
size_t encode_base64(Bytes bytes, Alphabet alphabet, char* out);
size_t encode_hex(Bytes bytes, bool upper, char* out);
#else
inline size_t span(Bytes, Set) {
  return 0;
}
inline Decoded decode_base64(Bytes, Alphabet, uint8_t*) {
  return {};
}
inline Decoded decode_hex(Bytes, uint8_t*) {
  return {};
}
inline size_t encode_base64(Bytes, Alphabet, char*) {
  return 0;
}
inline size_t encode_hex(Bytes, bool, char*) {
  return 0;
}
#endif

}  // namespace simd128

}  // namespace sluice::codec
