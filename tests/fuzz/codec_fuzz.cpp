// decode, spans and tails against a decoder that works bit by bit; forms against their names; the
// form writer in chunks against the writer in one piece, and against the decoder.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/codec.h"

namespace {

using sluice::Alphabet;
using sluice::Bytes;

void require(bool holds) {
  if (!holds) std::abort();
}

/// Takes what decides the course of a test from the front of the input.
struct Input {
  Bytes rest;

  uint8_t byte() {
    if (rest.empty()) return 0;
    const uint8_t first = rest[0];
    rest = rest.subspan(1);
    return first;
  }

  std::string text(size_t most) {
    const size_t size = std::min<size_t>(byte() % (most + 1), rest.size());
    const std::string taken(sluice::as_text(rest.subspan(0, size)));
    rest = rest.subspan(size);
    return taken;
  }
};

int naive_value(Alphabet alphabet, uint8_t c) {
  std::string_view digits = "0123456789abcdef";
  if (alphabet == Alphabet::standard) {
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  } else if (alphabet == Alphabet::url) {
    digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  } else if (c >= 'A' && c <= 'F') {
    c = static_cast<uint8_t>(c - 'A' + 'a');
  }
  const size_t at = digits.find(static_cast<char>(c));
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

/// The bits of `text`, all of whose characters are in the alphabet.
std::vector<bool> naive_bits(Bytes text, Alphabet alphabet) {
  std::vector<bool> bits;
  for (const uint8_t c : text) {
    for (int bit = alphabet == Alphabet::hex ? 3 : 5; bit >= 0; --bit) {
      bits.push_back(naive_value(alphabet, c) >> bit & 1);
    }
  }
  return bits;
}

std::string naive_bytes(const std::vector<bool>& bits) {
  std::string out(bits.size() / 8, '\0');
  for (size_t i = 0; i < out.size() * 8; ++i) {
    out[i / 8] = static_cast<char>(static_cast<unsigned char>(out[i / 8]) << 1 | bits[i]);
  }
  return out;
}

void check_tail(Bytes tail, Alphabet alphabet, size_t span) {
  uint8_t out[2];
  const auto size = sluice::decode_tail(tail, alphabet, out);
  bool valid =
      alphabet != Alphabet::hex && tail.size() >= 2 && tail.size() <= 3 && span >= tail.size();
  if (valid) {
    const auto bits = naive_bits(tail, alphabet);
    for (size_t i = bits.size() / 8 * 8; i < bits.size(); ++i) valid = valid && !bits[i];
    if (valid) require(size && sluice::as_text({out, *size}) == naive_bytes(bits));
  }
  require(valid == size.has_value());
}

void check_decode(Bytes text, Alphabet alphabet) {
  size_t span = 0;
  while (span < text.size() && naive_value(alphabet, text[span]) >= 0) ++span;
  require(sluice::alphabet_span(text, alphabet) == span);

  std::vector<uint8_t> out(sluice::decoded_capacity(text.size()));
  const auto done = sluice::decode(text, alphabet, out.data());
  const size_t quantum = alphabet == Alphabet::hex ? 2 : 4;
  require(done.read == span / quantum * quantum);
  const auto expected = naive_bytes(naive_bits(text.subspan(0, done.read), alphabet));
  require(sluice::as_text({out.data(), done.written}) == expected);
  check_tail(text.subspan(done.read), alphabet, span - done.read);
}

sluice::Form some_form(Input& input) {
  sluice::Form form;
  const uint8_t choice = input.byte();
  form.encoding = static_cast<sluice::Encoding>(choice % 5);
  const bool base64 = choice % 5 < 2, list = choice % 5 == 4;
  form.padded = !base64 || (choice & 8) == 0;
  if (!list && (choice & 16) != 0) form.column = 1 + input.byte();
  if (form.column > 1 && (choice & 32) != 0) form.first = 1 + input.byte() % (form.column - 1);
  if (form.column != 0 || list) form.separator = ":" + input.text(127);
  if (choice % 5 == 0 && (choice & 64) != 0) form.plus = "<" + input.text(127);
  if (choice % 5 == 0 && (choice & 128) != 0) form.slash = ">" + input.text(127);
  if (base64 && form.padded && (choice & 64) != 0) form.pad = "|" + input.text(127);
  form.prefix = input.text(255);
  form.suffix = input.text(128);
  return form;
}

std::string written(const sluice::Form& form, std::string_view bytes, size_t chunk) {
  sluice::FormWriter writer(form);
  std::string out;
  for (size_t at = 0; at < bytes.size(); at += chunk) writer.write(bytes.substr(at, chunk), out);
  writer.finish(out);
  return out;
}

/// Undoes prefix, suffix, lines and spellings of a base64 or hex run; gives its plain encoding.
std::string unlaid(const sluice::Form& form, std::string_view text) {
  require(text.substr(0, form.prefix.size()) == form.prefix);
  text.remove_prefix(form.prefix.size());
  require(text.size() >= form.suffix.size());
  require(text.substr(text.size() - form.suffix.size()) == form.suffix);
  text.remove_suffix(form.suffix.size());
  std::string out;
  size_t line = 0, limit = form.first != 0 ? form.first : form.column;
  const auto take = [&text](std::string_view literal) {
    const bool taken = text.substr(0, literal.size()) == literal;
    if (taken) text.remove_prefix(literal.size());
    return taken;
  };
  while (!text.empty()) {
    if (limit != 0 && line == limit) {
      require(take(form.separator) && !text.empty());
      line = 0;
      limit = form.column;
    }
    ++line;
    if (take(form.plus)) {
      out += '+';
    } else if (take(form.slash)) {
      out += '/';
    } else if (take(form.pad)) {
      out += '=';
    } else {
      out += text[0];
      text.remove_prefix(1);
    }
  }
  return out;
}

void check_writer(Input input) {
  const sluice::Form form = some_form(input);
  const auto read = sluice::parse_form(sluice::form_name(form, "image/png"), "image/png");
  require(read && *read == form);

  const size_t chunk = 1 + input.byte();
  const std::string_view bytes = sluice::as_text(input.rest);
  const std::string whole = written(form, bytes, bytes.size() + 1);
  require(written(form, bytes, chunk) == whole);
  if (form.encoding == sluice::Encoding::byte_array) return;

  std::string plain;
  const bool hex =
      form.encoding == sluice::Encoding::hex || form.encoding == sluice::Encoding::hex_upper;
  const bool url = form.encoding == sluice::Encoding::base64url;
  sluice::encode(sluice::as_bytes(bytes),
                 hex   ? Alphabet::hex
                 : url ? Alphabet::url
                       : Alphabet::standard,
                 form.padded, form.encoding == sluice::Encoding::hex_upper, plain);
  require(unlaid(form, whole) == plain);
}

void check_parse(std::string_view name) {
  const auto form = sluice::parse_form(name, "image/png");
  if (!form) return;
  const auto again = sluice::parse_form(sluice::form_name(*form, "image/png"), "image/png");
  require(again && *again == *form);
  require(form->column <= sluice::kMaxFormColumn && form->first <= form->column);
  require(form->prefix.size() <= sluice::kMaxFormPrefix);
  for (const auto* literal :
       {&form->separator, &form->plus, &form->slash, &form->pad, &form->suffix}) {
    require(literal->size() <= sluice::kMaxFormLiteral);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes bytes(data, size);
  for (const Alphabet alphabet : {Alphabet::standard, Alphabet::url, Alphabet::hex}) {
    check_decode(bytes, alphabet);
  }
  check_parse(sluice::as_text(bytes));
  check_writer({bytes});
  return 0;
}
