#include "sluice/codec.h"

#include "codec/kernels.h"

namespace sluice {

namespace {

// A kernel takes the leading blocks, its scalar twin the rest.

size_t span(Bytes text, codec::Set set) {
  const size_t blocks = codec::simd128::span(text, set);
  return blocks + codec::scalar::span(text.subspan(blocks), set);
}

/// Encodes whole groups of three into room already made; gives the bytes read.
size_t encode_groups(Bytes bytes, Alphabet alphabet, char* out) {
  const size_t blocks = codec::simd128::encode_base64(bytes, alphabet, out);
  return blocks +
         codec::scalar::encode_base64(bytes.subspan(blocks), alphabet, out + blocks / 3 * 4);
}

void encode_base64(Bytes bytes, Alphabet alphabet, bool padded, std::string& out) {
  const size_t begin = out.size();
  out.resize(begin + bytes.size() / 3 * 4);
  const Bytes rest = bytes.subspan(encode_groups(bytes, alphabet, out.data() + begin));
  if (rest.empty()) return;

  // 1 byte: aaaaaa bb0000   2 bytes: aaaaaa bbbbbb cccc00
  const uint8_t last[3] = {rest[0], rest.size() > 1 ? rest[1] : uint8_t{0}, 0};
  char quantum[4];
  codec::scalar::encode_base64(last, alphabet, quantum);
  out.append(quantum, rest.size() + 1);
  if (padded) out.append(3 - rest.size(), '=');
}

void encode_hex(Bytes bytes, bool upper, std::string& out) {
  const size_t begin = out.size();
  out.resize(begin + bytes.size() * 2);
  char* to = out.data() + begin;
  const size_t blocks = codec::simd128::encode_hex(bytes, upper, to);
  codec::scalar::encode_hex(bytes.subspan(blocks), upper, to + blocks * 2);
}

}  // namespace

size_t alphabet_span(Bytes text, Alphabet alphabet) {
  return span(text, codec::set_of(alphabet));
}

size_t any_base64_span(Bytes text) {
  return span(text, codec::Set::any_base64);
}

Decoded decode(Bytes text, Alphabet alphabet, uint8_t* out) {
  const bool hex = alphabet == Alphabet::hex;
  const Decoded blocks = hex ? codec::simd128::decode_hex(text, out)
                             : codec::simd128::decode_base64(text, alphabet, out);
  const Bytes rest = text.subspan(blocks.read);
  out += blocks.written;
  const Decoded end = hex ? codec::scalar::decode_hex(rest, out)
                          : codec::scalar::decode_base64(rest, alphabet, out);
  return {blocks.read + end.read, blocks.written + end.written};
}

std::optional<size_t> decode_tail(Bytes text, Alphabet alphabet, uint8_t* out) {
  if (alphabet == Alphabet::hex || text.size() < 2 || text.size() > 3) return std::nullopt;
  uint8_t quantum[4] = {'A', 'A', 'A', 'A'};
  for (size_t i = 0; i < text.size(); ++i) quantum[i] = text[i];
  uint8_t bytes[3];
  if (codec::scalar::decode_base64(quantum, alphabet, bytes).written != 3) return std::nullopt;

  // 2 characters: aaaaaabb bbbb0000   3 characters: aaaaaabb bbbbcccc cc000000
  const size_t size = text.size() - 1;
  if (bytes[size] != 0) return std::nullopt;
  for (size_t i = 0; i < size; ++i) out[i] = bytes[i];
  return size;
}

void encode(Bytes bytes, Alphabet alphabet, bool padded, bool upper, std::string& out) {
  if (alphabet == Alphabet::hex) {
    encode_hex(bytes, upper, out);
  } else {
    encode_base64(bytes, alphabet, padded, out);
  }
}

}  // namespace sluice
