#include "layers/references.h"

#include <algorithm>

#include "sluice/codec.h"
#include "sluice/layers.h"

namespace sluice {

namespace layers {

namespace {

bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-' ||
         c == '.' || c == '_' || c == '/';
}

/// Percent-encodes every character that means something to a URI, a quote or a markup language (RFC
/// 3986 §2.1), including `+`, which form decoding turns into a space.
void append_percent(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (is_plain(c)) {
      out += c;
      continue;
    }
    out += '%';
    encode(as_bytes({&c, 1}), Alphabet::hex, false, true, out);
  }
}

std::optional<std::string> undo_percent(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    uint8_t byte[decoded_capacity(2)];
    if (text.size() - at < 3) return std::nullopt;
    if (decode(as_bytes(text.substr(at + 1, 2)), Alphabet::hex, byte).written != 1) {
      return std::nullopt;
    }
    out += static_cast<char>(byte[0]);
    at += 2;
  }
  return out;
}

/// The value of `name=` in a query, still encoded.
std::string_view parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
      return pair.substr(equals + 1);
    }
  }
  return {};
}

}  // namespace

std::string plain_uri(std::string_view id) {
  std::string uri(kScheme);
  append_percent(uri, id);
  return uri;
}

std::optional<Reference> read_reference(std::string_view uri) {
  if (!uri.starts_with(kScheme)) return std::nullopt;
  uri.remove_prefix(kScheme.size());
  const size_t mark = std::min(uri.find('?'), uri.size());
  const std::string_view query = uri.substr(std::min(mark + 1, uri.size()));
  std::optional<std::string> id = undo_percent(uri.substr(0, mark));
  std::optional<std::string> type = undo_percent(parameter(query, "type"));
  if (!id || id->empty() || !type) return std::nullopt;
  std::optional<Form> form = parse_form(parameter(query, "form"), *type);
  if (!form) return std::nullopt;
  return Reference{std::move(*id), std::move(*type), std::move(*form)};
}

}  // namespace layers

namespace {

/// The prefix of the ids of artifacts that no store kept (`web/src/artifacts/unstored.ts`).
constexpr std::string_view kUnstored = "truncated_";

}  // namespace

std::string reference(const Segment& segment, std::string_view id, bool with_form) {
  std::string uri = layers::plain_uri(id);
  uri += "?type=";
  layers::append_percent(uri, segment.mime_type);
  uri += "&size=" + std::to_string(segment.bytes);
  if (with_form && segment.kind == SegmentKind::run) {
    const std::string form = form_name(segment.form, segment.mime_type);
    if (!form.empty()) uri += "&form=" + form;
  }
  // Inside a longer string there is no other place for this.
  if (id.starts_with(kUnstored)) uri += "&error=not-stored";
  return uri;
}

}  // namespace sluice
