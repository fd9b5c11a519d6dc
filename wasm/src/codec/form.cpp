// The form of a run: its name, written and read (`base64url-nopad-w76-b0a`), and bytes written in
// it.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "sluice/codec.h"

namespace sluice {

namespace {

constexpr std::array<std::pair<Encoding, std::string_view>, 10> kEncodingTokens = {{
    {Encoding::base64, "base64"},
    {Encoding::base64url, "base64url"},
    {Encoding::hex, "hex"},
    {Encoding::hex_upper, "HEX"},
    {Encoding::byte_array, "bytes"},
    {Encoding::signed_array, "int8"},
    {Encoding::byte_object, "object"},
    {Encoding::latin1, "latin1"},
    {Encoding::python, "python"},
    {Encoding::xxd, "xxd"},
}};

/// `base64`, `hex`, `bytes` …
std::string_view encoding_token(Encoding encoding) {
  for (const auto& [value, token] : kEncodingTokens) {
    if (value == encoding) return token;
  }
  return {};
}

/// `data:<mime_type>;base64,`, or nothing when there is no type.
std::string data_prefix(std::string_view mime_type) {
  if (mime_type.empty()) return {};
  return std::string("data:").append(mime_type).append(";base64,");
}

}  // namespace

// --- written -------------------------------------------------------------------------------------

namespace {

void add_number(std::string& name, char token, uint32_t number) {
  if (number != 0) name.append(1, '-').append(1, token).append(std::to_string(number));
}

void add_literal(std::string& name, char token, std::string_view literal, std::string_view usual) {
  if (literal == usual) return;
  name.append(1, '-').append(1, token);
  encode(as_bytes(literal), Alphabet::hex, false, false, name);
}

}  // namespace

std::string form_name(const Form& form, std::string_view mime_type) {
  if (form == Form{}) return {};
  std::string name(encoding_token(form.encoding));
  if (!form.padded) name += "-nopad";
  add_number(name, 'w', form.column);
  add_number(name, 'f', form.first);
  add_literal(name, 'b', form.separator, "");
  add_literal(name, 'c', form.colon, "");
  add_literal(name, 'u', form.plus, "+");
  add_literal(name, 's', form.slash, "/");
  add_literal(name, 'e', form.pad, "=");
  if (!form.prefix.empty() && form.prefix == data_prefix(mime_type)) {
    name += "-data";
  } else {
    add_literal(name, 'p', form.prefix, "");
  }
  add_literal(name, 'z', form.suffix, "");
  return name;
}

// --- read ----------------------------------------------------------------------------------------

namespace {

// Every literal at its longest, in hex, with room for the short tokens.
constexpr size_t kMaxName = 2 * (kMaxFormPrefix + 6 * kMaxFormLiteral) + 64;

/// Reads tokens from left to right, each at most once and in the order of `form_name`.
class Reader {
 public:
  explicit Reader(std::string_view name) : rest_(name) { next(); }

  /// Takes the next token if it is `word`.
  bool word(std::string_view word) {
    if (token_ != word) return false;
    next();
    return true;
  }

  /// Takes `<tag><decimal>` if it is next: 1…kMaxFormColumn without leading zeros.
  bool number(char tag, uint32_t& number) {
    if (!tagged(tag)) return false;
    uint32_t value = 0;
    for (const char c : token_.substr(1)) {
      if (c < '0' || c > '9' || (value == 0 && c == '0')) return fail();
      value = value * 10 + static_cast<uint32_t>(c - '0');
      if (value > kMaxFormColumn) return fail();
    }
    if (value == 0) return fail();
    number = value;
    next();
    return true;
  }

  /// Takes `<tag><lower-case hex>` if it is next: 1…`limit` bytes.
  bool literal(char tag, size_t limit, std::string& literal) {
    if (!tagged(tag)) return false;
    const std::string_view digits = token_.substr(1);
    const bool upper =
        std::any_of(digits.begin(), digits.end(), [](char c) { return c >= 'A' && c <= 'F'; });
    if (digits.empty() || digits.size() % 2 != 0 || digits.size() > 2 * limit || upper) {
      return fail();
    }
    std::string room(decoded_capacity(digits.size()), '\0');
    const Decoded done =
        decode(as_bytes(digits), Alphabet::hex, reinterpret_cast<uint8_t*>(room.data()));
    if (done.read != digits.size()) return fail();
    literal.assign(room, 0, done.written);
    next();
    return true;
  }

  /// Whether all was read and nothing was malformed.
  bool done() const { return !failed_ && at_end_; }

 private:
  bool tagged(char tag) const { return !at_end_ && !token_.empty() && token_[0] == tag; }

  bool fail() {
    failed_ = true;
    at_end_ = true;
    token_ = {};
    return false;
  }

  void next() {
    if (last_) {
      at_end_ = true;
      token_ = {};
      return;
    }
    const size_t dash = rest_.find('-');
    last_ = dash == std::string_view::npos;
    token_ = rest_.substr(0, dash);
    rest_ = last_ ? std::string_view{} : rest_.substr(dash + 1);
  }

  std::string_view rest_;
  std::string_view token_;
  bool last_ = false;    ///< `token_` is the last
  bool at_end_ = false;  ///< there is no token
  bool failed_ = false;
};

bool read_encoding(Reader& reader, Form& form) {
  for (const auto& [encoding, token] : kEncodingTokens) {
    if (!reader.word(token)) continue;
    form.encoding = encoding;
    return true;
  }
  return false;
}

/// Whether some run could be in this form.
bool sensible(const Form& form) {
  const bool standard = form.encoding == Encoding::base64;
  const bool base64 = standard || form.encoding == Encoding::base64url;
  const bool lines = form.encoding == Encoding::python || form.encoding == Encoding::xxd;
  const bool list = is_list(form.encoding) || lines;
  const Form usual;
  if (!base64 && (!form.padded || form.pad != usual.pad)) return false;
  if (!standard && (form.plus != usual.plus || form.slash != usual.slash)) return false;
  if (!form.padded && form.pad != usual.pad) return false;
  if (form.plus == form.slash || form.plus == form.pad || form.slash == form.pad) return false;
  if (form.encoding >= Encoding::byte_array && form.column != 0) return false;
  if ((form.encoding == Encoding::byte_object) == form.colon.empty()) return false;
  if (form.encoding == Encoding::python && form.prefix.empty()) return false;
  if ((form.column != 0 || list) == form.separator.empty()) return false;
  return form.first == 0 || form.first < form.column;
}

}  // namespace

std::optional<Form> parse_form(std::string_view name, std::string_view mime_type) {
  Form form;
  if (name.empty()) return form;
  if (name.size() > kMaxName) return std::nullopt;

  Reader reader(name);
  if (!read_encoding(reader, form)) return std::nullopt;
  form.padded = !reader.word("nopad");
  reader.number('w', form.column);
  reader.number('f', form.first);
  reader.literal('b', kMaxFormLiteral, form.separator);
  reader.literal('c', kMaxFormLiteral, form.colon);
  reader.literal('u', kMaxFormLiteral, form.plus);
  reader.literal('s', kMaxFormLiteral, form.slash);
  reader.literal('e', kMaxFormLiteral, form.pad);
  const bool data = reader.word("data");
  if (data) form.prefix = data_prefix(mime_type);
  if (!data) reader.literal('p', kMaxFormPrefix, form.prefix);
  reader.literal('z', kMaxFormLiteral, form.suffix);

  if (!reader.done() || !sensible(form)) return std::nullopt;
  if (form.prefix.size() > kMaxFormPrefix || (data && form.prefix.empty())) return std::nullopt;
  // What is usual goes without saying: `base64` alone, `u2b`, …
  if (form_name(form, data ? mime_type : std::string_view{}) != name) return std::nullopt;
  return form;
}

// --- bytes in a form -----------------------------------------------------------------------------

namespace {

// Bytes encoded at a time: 64 KB of base64, a whole number of quanta.
constexpr size_t kBlock = 49'152;

constexpr size_t kDumpLine = 16;

/// How many bytes are written at once.
size_t quantum_of(Encoding encoding) {
  if (encoding == Encoding::xxd) return kDumpLine;
  return encoding == Encoding::base64 || encoding == Encoding::base64url ? 3 : 1;
}

constexpr size_t kDecimalDigits = 3;
constexpr size_t kMostNumber = 20;

void encode_as(const Form& form, std::string_view bytes, std::string& out) {
  const bool upper = form.encoding == Encoding::hex_upper;
  Alphabet alphabet = Alphabet::hex;
  if (form.encoding == Encoding::base64) alphabet = Alphabet::standard;
  if (form.encoding == Encoding::base64url) alphabet = Alphabet::url;
  encode(as_bytes(bytes), alphabet, form.padded, upper, out);
}

/// Copies `text` to `to`; gives the place behind it.
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
  if (const size_t quantum = quantum_of(form_.encoding); quantum > 1) {
    if (!pending_.empty()) {
      const size_t missing = std::min(quantum - pending_.size(), bytes.size());
      pending_.append(bytes.substr(0, missing));
      bytes.remove_prefix(missing);
      if (pending_.size() < quantum) return;
      encode_block(pending_, out);
      pending_.clear();
    }
    const size_t whole = bytes.size() / quantum * quantum;
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
  if (is_list(form_.encoding)) return write_list(bytes, out);
  if (form_.encoding == Encoding::latin1) return write_latin1(bytes, out);
  if (form_.encoding == Encoding::python) return write_python(bytes, out);
  if (form_.encoding == Encoding::xxd) return write_xxd(bytes, out);
  if (form_.column == 0 && !is_spelled(form_)) return encode_as(form_, bytes, out);
  std::string encoded;
  encode_as(form_, bytes, encoded);
  write_lines(encoded, out);
}

size_t FormWriter::size_in_lines(std::string_view encoded) const {
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
  // A separator before each line that begins. Of 12 characters, 3 in the open line and 4 a line:
  //
  //   abc⏎defg⏎hijk⏎l    1 + (12 − 3 − 1) / 4 = 3
  return size + (1 + (encoded.size() - room - 1) / form_.column) * form_.separator.size();
}

void FormWriter::write_lines(std::string_view encoded, std::string& out) {
  const size_t begin = out.size();
  out.resize(begin + size_in_lines(encoded));
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
    to = spelled ? write_spelled(piece, to) : put(piece, to);
    if (form_.column != 0) in_line_ += static_cast<uint32_t>(piece.size());
    encoded.remove_prefix(piece.size());
  }
}

char* FormWriter::write_spelled(std::string_view encoded, char* to) const {
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

void FormWriter::write_list(std::string_view bytes, std::string& out) {
  const std::string& separator = form_.separator;
  const bool object = form_.encoding == Encoding::byte_object;
  const size_t begin = out.size();
  const size_t key = object ? kMostNumber + form_.colon.size() : 1;
  out.resize(begin + bytes.size() * (kDecimalDigits + separator.size() + key));
  char* to = out.data() + begin;
  for (const char byte : bytes) {
    if (!first_line_) {
      to = put(separator, to);
      // The first key is in the prefix.
      if (object) to = put(form_.colon, put(std::to_string(++count_), to));
    }
    first_line_ = false;
    const auto value = static_cast<uint8_t>(byte);
    const bool minus = form_.encoding == Encoding::signed_array && value > 127;
    if (minus) *to++ = '-';
    to = decimal(minus ? static_cast<uint8_t>(-value) : value, to);
  }
  out.resize(static_cast<size_t>(to - out.data()));
}

// --- bytes as text -------------------------------------------------------------------------------

namespace {

void append_hex(std::string& out, uint64_t number, int digits) {
  for (int shift = digits * 4 - 4; shift >= 0; shift -= 4) {
    out += "0123456789abcdef"[number >> shift & 0xF];
  }
}

/// The backslashes in a separator: how each of them is spelled there.
size_t count_slashes(std::string_view separator) {
  return static_cast<size_t>(std::count(separator.begin(), separator.end(), '\\'));
}

void append_printable(std::string& out, char c, size_t slashes) {
  if (c == '\\') out.append(slashes - 1, '\\');
  if (c == '"') out.append(slashes - 1, '\\');
  out += c;
}

bool is_printable(uint8_t byte) {
  return byte >= 0x20 && byte < 0x7F;
}

}  // namespace

void append_python(std::string& out, uint8_t byte, char quote, size_t slashes) {
  const char c = static_cast<char>(byte);
  const size_t short_one = std::string_view("\t\n\r\\'").find(c);
  const bool escaped = short_one < 4 || (c == quote && c == '\'');
  if (!escaped && is_printable(byte)) return append_printable(out, c, slashes);
  out.append(slashes, '\\');
  if (c == '\\') return void(out.append(slashes, '\\'));
  if (escaped) return void(out += short_one < 3 ? "tnr"[short_one] : c);
  out += 'x';
  append_hex(out, byte, 2);
}

void append_dump_line(std::string& out, std::string_view bytes, uint64_t offset, size_t slashes) {
  append_hex(out, offset, 8);
  out += ": ";
  for (size_t at = 0; at < kDumpLine; ++at) {
    if (at < bytes.size()) append_hex(out, static_cast<uint8_t>(bytes[at]), 2);
    if (at >= bytes.size()) out += "  ";
    if (at % 2 == 1) out += ' ';
  }
  out += ' ';
  for (const char c : bytes) {
    append_printable(out, is_printable(static_cast<uint8_t>(c)) ? c : '.', slashes);
  }
}

void FormWriter::write_latin1(std::string_view bytes, std::string& out) const {
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    if (byte >= 0x80) out += static_cast<char>(0xC0 | byte >> 6);
    out += byte >= 0x80 ? static_cast<char>(0x80 | (byte & 0x3F)) : c;
  }
}

void FormWriter::write_python(std::string_view bytes, std::string& out) const {
  for (const char c : bytes) {
    append_python(out, static_cast<uint8_t>(c), form_.prefix.back(),
                  count_slashes(form_.separator));
  }
}

void FormWriter::write_xxd(std::string_view bytes, std::string& out) {
  const size_t slashes = std::max<size_t>(count_slashes(form_.separator) * 2, 1);
  for (size_t at = 0; at < bytes.size(); at += kDumpLine, count_ += kDumpLine) {
    if (count_ > 0) out += form_.separator;
    append_dump_line(out, bytes.substr(at, kDumpLine), count_, slashes);
  }
}

}  // namespace sluice
