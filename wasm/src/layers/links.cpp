#include "layers/links.h"

#include <array>

#include "json/object.h"
#include "layers/names.h"
#include "layers/notes.h"
#include "sluice/sniff.h"

namespace sluice::layers {

namespace {

constexpr size_t kMaxHintUri = 2'000;

/// Whether a URI is safe inside our own sentence: visible ASCII without characters that end a URI
/// (RFC 3986 §2).
bool is_plain_uri(std::string_view uri) {
  if (uri.empty() || uri.size() > kMaxHintUri) return false;
  for (const char c : uri) {
    if (c <= ' ' || c >= 0x7f ||
        std::string_view("\"<>\\^`{|}").find(c) != std::string_view::npos) {
      return false;
    }
  }
  return true;
}

std::string hint(std::string_view uri, std::string_view name_space) {
  std::string text = "Resource available at ";
  text += is_plain_uri(uri) ? uri : std::string_view("this URI");
  text += ". Use ";
  if (!name_space.empty()) text.append(name_space).append(1, '.');
  return text + "resources_read to fetch.";
}

/// Skips members that we write ourselves and members that mean nothing to a reader.
bool is_shown(std::string_view key) {
  constexpr std::array<std::string_view, 6> kOwn = {"type",  "mimeType", "size",
                                                    "_meta", "icons",    "fetched"};
  for (const std::string_view own : kOwn) {
    if (key == own) return false;
  }
  return true;
}

/// Appends the members of the host's answer. Returns whether the resource was fetched.
bool append_answer(std::string& out, const std::string& answer) {
  Document document;
  if (answer.empty() || !document.read(answer, 0).ok()) return false;
  const Tape& tape = document.tape();
  if (tape[0].type != Type::object || tape.count(0) == 0) return false;
  const std::optional<size_t> fetched = tape.find(0, "fetched");
  if (!fetched) {
    append_key(out, "fetched");
    out += "true";
  }
  const std::string_view members = tape.source(0);
  out += ',';
  out += members.substr(1, members.size() - 2);
  return !fetched || tape.source(*fetched) == "true";
}

}  // namespace

std::vector<uint32_t> links_of(const Document& document, const Shape& shape) {
  std::vector<uint32_t> links;
  const bool blocks = shape.kind == Shape::Kind::result || shape.kind == Shape::Kind::blocks;
  if (!blocks || !shape.listed(document)) return links;
  for (const uint32_t block : document.children(*shape.list)) {
    if (document.is_block(block, "resource_link")) links.push_back(block);
  }
  return links;
}

std::string show_link(const Document& document, size_t block, const Notes& notes,
                      std::string_view name_space, const std::string& fetched) {
  const Tape& tape = document.tape();
  std::string out = "{\"type\":\"resource_link\"";
  for (const size_t value : document.children(block)) {
    const std::string key = tape.string(value - 1);
    if (!is_shown(key)) continue;
    append_key(out, key);
    append_referring(out, document, value, notes);
  }
  if (const std::string type = plain_type(string_member(document, block, "mimeType"));
      !type.empty()) {
    append_key(out, "mime_type");
    out += json_string(type);
  }
  if (const std::optional<uint64_t> size = number_member(document, block, "size")) {
    append_key(out, "size_bytes");
    out += std::to_string(*size);
  }
  const size_t unanswered = out.size();
  if (!append_answer(out, fetched)) {
    if (out.size() == unanswered) {
      append_key(out, "fetched");
      out += "false";
    }
    append_key(out, "hint");
    out += json_string(hint(string_member(document, block, "uri"), name_space));
  }
  out += '}';
  return out;
}

}  // namespace sluice::layers
