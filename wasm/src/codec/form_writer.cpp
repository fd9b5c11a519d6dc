#include <algorithm>
#include <cstring>

#include "sluice/codec.h"
#include "sluice/form.h"

namespace sluice {

namespace {

// Bytes encoded at a time: 64 KB of base64, a whole number of quanta.
constexpr size_t kBlock = 49'152;

constexpr size_t kQuantum = 3;

constexpr size_t kDecimalDigits = 3;

bool is_base64(Encoding encoding) {
  return encoding == Encoding::base64 || encoding == Encoding::base64url;
}

void encode_as(const Form& form, std::string_view bytes, std::string& out) {
  const bool upper = form.encoding == Encoding::hex_upper;
  Alphabet alphabet = Alphabet::hex;
  if (form.encoding == Encoding::base64) alphabet = Alphabet::standard;
  if (form.encoding == Encoding::base64url) alphabet = Alphabet::url;
  encode(as_bytes(bytes), alphabet, form.padded, upper, out);
}

/// Copies `text`; gives the place behind it.
char* put(std::string_view text, char* to) {
  // Lines of two digits and separators of one character are common: no call for those.
  if (text.size() > 4) {
    std::memcpy(to, text.data(), text.size());
    return to + text.size();
  }
  switch (text.size()) {
    case 4:
      *to++ = text[text.size() - 4];
      [[fallthrough]];
    case 3:
      *to++ = text[text.size() - 3];
      [[fallthrough]];
    case 2:
      *to++ = text[text.size() - 2];
      [[fallthrough]];
    case 1:
      *to++ = text[text.size() - 1];
      break;
    default:
      break;
  }
  return to;
}

/// Whether any of `+ / =` stands as something else.
bool is_spelled(const Form& form) {
  return form.plus != "+" || form.slash != "/" || form.pad != "=";
}

/// Writes 0–255 in decimal; gives the place behind it.
char* decimal(uint8_t byte, char* to) {
  if (byte >= 100) *to++ = static_cast<char>('0' + byte / 100);
  if (byte >= 10) *to++ = static_cast<char>('0' + byte / 10 % 10);
  *to++ = static_cast<char>('0' + byte % 10);
  return to;
}

}  // namespace

void FormWriter::open(std::string& out) {
  if (!opened_) out += form_.prefix;
  opened_ = true;
}

void FormWriter::write(std::string_view bytes, std::string& out) {
  open(out);
  if (is_base64(form_.encoding)) {
    if (!pending_.empty()) {
      const size_t missing = std::min(kQuantum - pending_.size(), bytes.size());
      pending_.append(bytes.substr(0, missing));
      bytes.remove_prefix(missing);
      if (pending_.size() < kQuantum) return;
      encode_block(pending_, out);
      pending_.clear();
    }
    const size_t whole = bytes.size() / kQuantum * kQuantum;
    pending_.assign(bytes.substr(whole));
    bytes = bytes.substr(0, whole);
  }
  for (; !bytes.empty(); bytes.remove_prefix(std::min(kBlock, bytes.size()))) {
    encode_block(bytes.substr(0, kBlock), out);
  }
}

void FormWriter::finish(std::string& out) {
  open(out);
  if (!pending_.empty()) encode_block(pending_, out);
  pending_.clear();
  out += form_.suffix;
}

void FormWriter::encode_block(std::string_view bytes, std::string& out) {
  if (form_.encoding == Encoding::byte_array) return list(bytes, out);
  if (form_.column == 0 && !is_spelled(form_)) return encode_as(form_, bytes, out);
  std::string encoded;
  encode_as(form_, bytes, encoded);
  lay(encoded, out);
}

size_t FormWriter::laid_size(std::string_view encoded) const {
  size_t size = encoded.size();
  if (is_spelled(form_)) {
    const auto add = [&](char c, const std::string& spelling) {
      const auto count = static_cast<size_t>(std::count(encoded.begin(), encoded.end(), c));
      size = size - count + count * spelling.size();
    };
    add('+', form_.plus);
    add('/', form_.slash);
    add('=', form_.pad);
  }
  const size_t room = line_length() - in_line_;
  if (form_.column == 0 || encoded.size() <= room) return size;
  return size + (1 + (encoded.size() - room - 1) / form_.column) * form_.separator.size();
}

void FormWriter::lay(std::string_view encoded, std::string& out) {
  const size_t begin = out.size();
  out.resize(begin + laid_size(encoded));
  char* to = out.data() + begin;
  const bool spelled = is_spelled(form_);
  while (!encoded.empty()) {
    if (form_.column != 0 && in_line_ == line_length()) {
      to = put(form_.separator, to);
      in_line_ = 0;
      first_line_ = false;
    }
    const size_t room = form_.column == 0 ? encoded.size() : line_length() - in_line_;
    const std::string_view piece = encoded.substr(0, room);
    to = spelled ? spell(piece, to) : put(piece, to);
    if (form_.column != 0) in_line_ += static_cast<uint32_t>(piece.size());
    encoded.remove_prefix(piece.size());
  }
}

char* FormWriter::spell(std::string_view encoded, char* to) const {
  for (const char c : encoded) {
    // Letters and digits stand behind `/`: most characters need no more than this.
    if ((c > '/' && c != '=') || c == '-') {
      *to++ = c;
    } else {
      to = put(c == '+' ? form_.plus : c == '/' ? form_.slash : form_.pad, to);
    }
  }
  return to;
}

void FormWriter::list(std::string_view bytes, std::string& out) {
  const std::string& separator = form_.separator;
  const size_t begin = out.size();
  out.resize(begin + bytes.size() * (kDecimalDigits + separator.size()));
  char* to = out.data() + begin;
  for (const char byte : bytes) {
    if (!first_line_) to = put(separator, to);
    first_line_ = false;
    to = decimal(static_cast<uint8_t>(byte), to);
  }
  out.resize(static_cast<size_t>(to - out.data()));
}

}  // namespace sluice
