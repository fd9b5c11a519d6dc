// Certificates (X.509, RFC 5280): which host, and until when.
#include <optional>

#include "facts/families/families.h"
#include "sluice/codec.h"
#include "sniff/structure.h"
#include "text/ascii.h"

namespace sluice::families {

namespace {

/// An element of DER (X.690 §8.1) that begins some bytes.
struct Element {
  uint32_t tag = 0;
  Bytes content;
  Bytes rest;
};

constexpr uint32_t kSequence = 0x30;
constexpr uint32_t kSet = 0x31;

std::optional<Element> first_element(Bytes bytes) {
  const uint32_t lead = u8(bytes, 1);
  const size_t wide = lead < 0x80 ? 0 : lead - 0x80;
  if (wide > 4 || lead == 0x80 || !holds(bytes, 0, 2 + wide)) return std::nullopt;
  const uint64_t size = wide == 0 ? lead : be(bytes, 2, wide);
  if (!holds(bytes, 2 + wide, size)) return std::nullopt;
  const Bytes behind = bytes.subspan(2 + wide);
  const auto length = static_cast<size_t>(size);
  return Element{u8(bytes, 0), behind.first(length), behind.subspan(length)};
}

/// `2036-01-01` of a UTCTime or a GeneralizedTime (RFC 5280 §4.1.2.5).
std::string read_day(const Element& time) {
  std::string digits(as_text(time.content).substr(0, time.tag == 0x17 ? 6 : 8));
  if (time.tag == 0x17 && digits.size() == 6) digits.insert(0, digits[0] < '5' ? "20" : "19");
  if (digits.size() != 8 || digits.find_first_not_of("0123456789") != digits.npos) return {};
  return digits.substr(0, 4) + '-' + digits.substr(4, 2) + '-' + digits.substr(6);
}

/// A common name that is one of a host. A person's is not told.
std::string_view read_host(Bytes subject) {
  std::string_view host;
  while (const auto set = first_element(subject)) {
    subject = set->rest;
    const auto pair = first_element(set->content);
    const auto type = pair ? first_element(pair->content) : std::nullopt;
    const auto value = type ? first_element(type->rest) : std::nullopt;
    if (!value || set->tag != kSet || as_text(type->content) != "\x55\x04\x03") continue;
    host = as_text(value->content);
  }
  const bool plain =
      host.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-*") ==
      host.npos;
  return plain && host.size() <= 253 && host.find('.') != host.npos ? host : std::string_view();
}

/// What the first block of PEM stands for.
std::string decode_block(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN CERT";
  const size_t at = text.find('\n', std::min(text.find(kBegin), text.size()));
  if (at == text.npos) return {};
  std::string characters;
  for (const char c : text.substr(at)) {
    if (c == '-' || c == '=') break;
    if (!is_white(c)) characters += c;
  }
  std::string bytes(decoded_capacity(characters.size()), '\0');
  auto* const out = reinterpret_cast<uint8_t*>(bytes.data());
  const Decoded whole = decode(as_bytes(characters), Alphabet::standard, out);
  const auto tail = decode_tail(as_bytes(std::string_view(characters).substr(whole.read)),
                                Alphabet::standard, out + whole.written);
  bytes.resize(whole.written + tail.value_or(0));
  return bytes;
}

}  // namespace

//   certificate { body { [0] version, serial, algorithm, issuer, validity { from, until }, subject
//   …
void append_certificate(std::string& line, const Glimpse& file) {
  const std::string_view text = as_text(file.head);
  uint64_t blocks = 0;
  for (size_t at = 0; (at = text.find("-----BEGIN CERT", at)) != text.npos; ++at) ++blocks;
  if (blocks > 1) append_count(line, blocks, "certificate");
  const std::string block = blocks > 0 ? decode_block(text) : std::string();
  const auto whole = first_element(blocks > 0 ? as_bytes(block) : file.head);
  const auto body = whole ? first_element(whole->content) : std::nullopt;
  if (!body || body->tag != kSequence) return;
  auto field = first_element(body->content);
  // The version is left out of the first one.
  if (field && field->tag == 0xA0) field = first_element(field->rest);
  for (int behind_serial = 0; field && behind_serial < 3; ++behind_serial)
    field = first_element(field->rest);
  const auto from = field ? first_element(field->content) : std::nullopt;
  const auto until = from ? first_element(from->rest) : std::nullopt;
  const auto subject = field ? first_element(field->rest) : std::nullopt;
  if (!until || !subject) return;
  const std::string day = read_day(*until);
  if (!day.empty()) line += ", valid until " + day;
  Quotes(line, ", for").add(read_host(subject->content));
}

}  // namespace sluice::families
