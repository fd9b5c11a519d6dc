#include "codec/payload.h"

#include <algorithm>

#include "sluice/codec.h"
#include "sluice/segment.h"
#include "sluice/sniff.h"
#include "text/ascii.h"
#include "text/utf8.h"

namespace sluice {

namespace {

// Longer than nearly every word of a language.
constexpr size_t kLongestWord = 20;

// So many hex digits without any other character are hardly base64.
constexpr size_t kPlainlyHex = 16;

bool is_letter_of_run(char c) {
  return is_alphanumeric(c) || is_among(c, "+/-_=\n\r");
}

/// A number, or letters of one case with an optional capital first.
bool is_word(std::string_view word) {
  if (word.size() > kLongestWord) return false;
  const std::string_view rest = is_upper(word[0]) ? word.substr(1) : word;
  return std::all_of(rest.begin(), rest.end(), is_lower<char>) ||
         std::all_of(rest.begin(), rest.end(), is_upper<char>) ||
         std::all_of(word.begin(), word.end(), is_digit<char>);
}

/// The word at `text[at]`, up to white space.
std::string_view word_at(std::string_view text, size_t at) {
  return text.substr(at, text.find_first_of(kWhite, at) - at);
}

/// Removes line breaks from `text` and puts them into the form: the separator after the first line.
/// Whether all lines agree shows when the form is tried.
std::string unwrap(std::string_view text, Form& form) {
  const size_t first = text.find_first_of("\r\n");
  if (first == std::string_view::npos) return std::string(text);
  const size_t next = text.find_first_not_of("\r\n", first);
  const std::string_view separator = text.substr(first, next - first);
  form.column = static_cast<uint32_t>(std::min<size_t>(first, UINT32_MAX));
  form.separator = separator;
  std::string joined;
  joined.reserve(text.size());
  std::copy_if(text.begin(), text.end(), std::back_inserter(joined),
               [](char c) { return c != '\r' && c != '\n'; });
  return joined;
}

/// Sets the unused bits of the last digit to 0. Decoders ignore them; here they have to be 0.
void clear_last_bits(std::string& digits) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const size_t size = digits.find('=');
  if (size == std::string::npos || size % 4 < 2) return;
  char& last = digits[size - 1];
  const size_t value = kLetters.find(last);
  const size_t bits = size % 4 == 2 ? 4 : 2;
  if (value != std::string_view::npos) last = kLetters[value >> bits << bits];
}

bool decode_all(std::string_view digits, Alphabet alphabet, std::string& bytes) {
  bytes.resize(decoded_capacity(digits.size()));
  auto* out = reinterpret_cast<uint8_t*>(bytes.data());
  const Decoded done = decode(as_bytes(digits), alphabet, out);
  size_t written = done.written;
  const std::string_view rest = digits.substr(done.read);
  if (!rest.empty()) {
    if (alphabet == Alphabet::hex || rest.size() < 2 || rest.size() > 3) return false;
    const std::optional<size_t> tail = decode_tail(as_bytes(rest), alphabet, out + written);
    if (!tail) return false;
    written += *tail;
  }
  bytes.resize(written);
  return written > 0;
}

std::optional<Payload> read_base64_run(std::string_view text) {
  if (!looks_encoded(text)) return std::nullopt;
  Payload payload;
  const std::string joined = unwrap(text, payload.form);
  std::string_view digits = joined;
  while (digits.ends_with('=')) digits.remove_suffix(1);
  const bool url = digits.find_first_of("-_") != std::string_view::npos;
  payload.form.encoding = url ? Encoding::base64url : Encoding::base64;
  payload.form.padded = digits.size() % 4 == 0 || digits.size() != joined.size();
  if (!decode_all(digits, url ? Alphabet::url : Alphabet::standard, payload.bytes)) {
    return std::nullopt;
  }
  return payload;
}

std::optional<Payload> read_hex_run(std::string_view text) {
  Payload payload;
  std::string_view digits = text;
  if (digits.starts_with("0x")) {
    payload.form.prefix = "0x";
    digits.remove_prefix(2);
  }
  const bool upper =
      std::any_of(digits.begin(), digits.end(), [](char c) { return c >= 'A' && c <= 'F'; });
  payload.form.encoding = upper ? Encoding::hex_upper : Encoding::hex;
  if (digits.size() % 2 != 0 || alphabet_span(as_bytes(digits), Alphabet::hex) != digits.size()) {
    return std::nullopt;
  }
  if (!decode_all(digits, Alphabet::hex, payload.bytes)) return std::nullopt;
  return payload;
}

/// The length of a leading `data:…;base64,`, else 0.
size_t data_prefix(std::string_view text) {
  constexpr std::string_view kBase64 = ";base64,";
  const size_t comma = text.find(',');
  if (!text.starts_with("data:") || comma == std::string_view::npos) return 0;
  return text.substr(0, comma + 1).ends_with(kBase64) ? comma + 1 : 0;
}

/// Where a run may begin: after white space and a leading `data:…;base64,`.
size_t begin_of_run(std::string_view text) {
  const size_t begin = std::min(text.find_first_not_of(kWhite), text.size());
  return begin + data_prefix(text.substr(begin));
}

/// Decodes what is between white space, after a leading `data:…;base64,`.
template <typename Read>
std::optional<Payload> read_between(std::string_view text, Read read) {
  const size_t begin = std::min(text.find_first_not_of(kWhite), text.size());
  const size_t uri = begin_of_run(text);
  const size_t end = text.find_last_not_of(kWhite);
  if (end == std::string_view::npos || end < uri) return std::nullopt;
  std::optional<Payload> payload = read(text.substr(uri, end + 1 - uri));
  if (!payload) return payload;
  payload->form.prefix.insert(0, text.substr(0, uri));
  payload->form.suffix += text.substr(end + 1);
  const std::string_view declared = text.substr(begin, uri - begin);
  if (!declared.empty()) payload->declared = declared.substr(5, declared.find(';') - 5);
  if (!writes_again(*payload, text)) payload.reset();
  return payload;
}

}  // namespace

bool writes_again(const Payload& payload, std::string_view text) {
  if (parse_form(form_name(payload.form, {}), {}) != payload.form) return false;
  std::string again;
  FormWriter writer(payload.form);
  writer.write(payload.bytes, again);
  writer.finish(again);
  return again == text;
}

bool fit_nested(Payload& payload, std::string_view source) {
  if (writes_again(payload, source)) return true;
  payload.form.slash = "\\/";
  std::string& prefix = payload.form.prefix;
  for (size_t at = prefix.find('/'); at != std::string::npos; at = prefix.find('/', at + 2)) {
    prefix.insert(at, 1, '\\');
  }
  return writes_again(payload, source);
}

bool looks_encoded(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_letter_of_run);
}

bool is_printable(std::string_view bytes) {
  for (size_t at = 0; at < bytes.size();) {
    const CodePoint point = read_code_point(bytes, at);
    at += point.length;
    if (point.value == kReplacement) return false;
    if (is_control(point.value) && point.value != '\t' && point.value != '\n' &&
        point.value != '\r') {
      return false;
    }
  }
  return true;
}

std::optional<Payload> read_base64(std::string_view text) {
  return read_between(text, read_base64_run);
}

bool may_be_base64(std::string_view text) {
  size_t words = 0;
  size_t plain = 0;
  for (size_t at = text.find_first_not_of(kWhite, begin_of_run(text)); at < text.size();
       at = text.find_first_not_of(kWhite, at)) {
    const std::string_view word = word_at(text, at);
    const std::string letters = replace_markers(word, [](uint32_t) { return ""; });
    if (!letters.empty() && !looks_encoded(letters)) return false;
    ++words;
    if (letters.size() == word.size() && is_word(word)) ++plain;
    at += word.size();
  }
  return plain * 2 < words;
}

std::optional<Payload> read_loose_base64(std::string_view text) {
  std::string digits;
  for (const char c : text.substr(begin_of_run(text))) {
    if (kWhite.find(c) == std::string_view::npos) digits += c;
  }
  clear_last_bits(digits);
  std::optional<Payload> payload = read_base64_run(digits);
  if (!payload || !writes_again(*payload, digits)) return std::nullopt;
  if (!may_be_base64(text) && !sniff(as_bytes(payload->bytes))) return std::nullopt;
  payload->form = {};
  return payload;
}

std::optional<Payload> read_encoded(std::string_view text) {
  std::optional<Payload> hex = read_between(text, read_hex_run);
  std::optional<Payload> base64 = read_base64(text);
  if (!hex || (base64 && !base64->declared.empty())) return base64;
  if (!base64) return hex;
  if (sniff(as_bytes(hex->bytes))) return hex;
  if (sniff(as_bytes(base64->bytes))) return base64;
  return text.size() >= kPlainlyHex ? hex : base64;
}

// --- a stored text that turns out to be base64 ---------------------------------------------------

// Characters up to the padding go to `open_`; nothing may follow padding.
bool Base64Text::take(std::string_view text) {
  const size_t pad = text.find('=');
  const std::string_view letters = text.substr(0, pad);
  if (!letters.empty() && pads_ > 0) return false;
  url_ = url_ || letters.find_first_of("-_") != std::string_view::npos;
  standard_ = standard_ || letters.find_first_of("+/") != std::string_view::npos;
  if (url_ && standard_) return false;
  open_ += letters;
  characters_ += letters.size();
  if (pad == std::string_view::npos) return true;
  const std::string_view pads = text.substr(pad);
  if (pads.find_first_not_of('=') != std::string_view::npos) return false;
  pads_ += pads.size();
  return pads_ <= 2;
}

bool Base64Text::take_words(std::string_view text) {
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(kWhite), text.size());
    if (end > 0 && !take(text.substr(0, end))) return false;
    if (end == text.size()) break;
    loose_ = true;
    text.remove_prefix(end + 1);
  }
  return true;
}

bool Base64Text::push(std::string_view text, std::string& bytes) {
  if (!take_words(text)) return false;
  const size_t whole = open_.size() / 4 * 4;
  const size_t before = bytes.size();
  bytes.resize(before + decoded_capacity(whole));
  const Decoded done = sluice::decode(as_bytes(std::string_view(open_).substr(0, whole)),
                                      url_ ? Alphabet::url : Alphabet::standard,
                                      reinterpret_cast<uint8_t*>(bytes.data()) + before);
  bytes.resize(before + done.written);
  open_.erase(0, whole);
  return done.read == whole;
}

bool Base64Text::finish(std::string& bytes) {
  if (characters_ == 0) return false;
  const size_t over = open_.size();
  padded_ = over == 0 || pads_ > 0;
  if (pads_ != 0 && (over == 0 || over + pads_ != 4)) return false;
  if (over == 0) return true;
  uint8_t tail[4];
  const auto size = decode_tail(as_bytes(open_), url_ ? Alphabet::url : Alphabet::standard, tail);
  if (!size) return false;
  bytes.append(reinterpret_cast<const char*>(tail), *size);
  return true;
}

Form Base64Text::form() const {
  Form form;
  form.encoding = url_ ? Encoding::base64url : Encoding::base64;
  form.padded = padded_;
  return form;
}

}  // namespace sluice
