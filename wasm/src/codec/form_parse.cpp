#include <algorithm>

#include "codec/form_token.h"

namespace sluice {

namespace {

// Every literal at its longest, in hex, with room for the short tokens.
constexpr size_t kMaxName = 2 * (kMaxFormPrefix + 5 * kMaxFormLiteral) + 64;

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
  for (const auto& [encoding, token] : codec::kEncodingTokens) {
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
  const bool list = form.encoding == Encoding::byte_array;
  const Form usual;
  if (!base64 && (!form.padded || form.pad != usual.pad)) return false;
  if (!standard && (form.plus != usual.plus || form.slash != usual.slash)) return false;
  if (!form.padded && form.pad != usual.pad) return false;
  if (form.plus == form.slash || form.plus == form.pad || form.slash == form.pad) return false;
  if (list && form.column != 0) return false;
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
  reader.literal('u', kMaxFormLiteral, form.plus);
  reader.literal('s', kMaxFormLiteral, form.slash);
  reader.literal('e', kMaxFormLiteral, form.pad);
  const bool data = reader.word("data");
  if (data) form.prefix = codec::data_prefix(mime_type);
  if (!data) reader.literal('p', kMaxFormPrefix, form.prefix);
  reader.literal('z', kMaxFormLiteral, form.suffix);

  if (!reader.done() || !sensible(form)) return std::nullopt;
  if (form.prefix.size() > kMaxFormPrefix || (data && form.prefix.empty())) return std::nullopt;
  // What is usual goes without saying: `base64` alone, `u2b`, …
  if (form_name(form, data ? mime_type : std::string_view{}) != name) return std::nullopt;
  return form;
}

}  // namespace sluice
