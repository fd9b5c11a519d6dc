#include "layers/blocks.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string_view>

#include "codec/payload.h"
#include "json/object.h"
#include "layers/result/names.h"
#include "layers/result/notes.h"
#include "layers/result/segment_table.h"
#include "sluice/sniff.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice::layers {

// --- images that stay ------------------------------------------------------------------------

namespace {

bool matches(std::string_view pattern, std::string_view mime_type) {
  if (pattern.ends_with("/*")) return mime_type.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == mime_type;
}

}  // namespace

Staying staying(const InlineMedia& media, const std::string& mime_type) {
  const auto match = [&](std::string_view pattern) { return matches(pattern, mime_type); };
  const auto is_among = [&](const auto& types) {
    return std::any_of(types.begin(), types.end(), match);
  };
  if (media.mode == InlineMedia::Mode::off) return Staying::never;
  const bool listed = media.mode == InlineMedia::Mode::listed;
  const bool given = listed && !media.types.empty();
  if (!(given ? is_among(media.types) : is_among(defaults::kInlineMediaTypes))) {
    return Staying::never;
  }
  return listed ? Staying::always : Staying::where_shown;
}

std::string block_shown(const Document& document, size_t block, const Shown& shown) {
  Object out;
  if (shown.kind == Showable::Kind::resource) {
    const std::optional<size_t> resource = document.tape().find(block, "resource");
    Object inner;
    if (const auto uri = resource ? document.tape().find(*resource, "uri") : std::nullopt;
        uri && document.marks(*uri).empty()) {
      inner.source("uri", document.tape().source(*uri));
    }
    inner.text("mimeType", shown.mime_type).text("blob", shown.data);
    out.text("type", "resource").source("resource", inner.end());
  } else {
    const bool audio = shown.kind == Showable::Kind::audio;
    out.text("type", audio ? "audio" : "image");
    out.text("data", shown.data).text("mimeType", shown.mime_type);
  }
  std::string text = out.end();
  text.pop_back();
  for (const std::string_view key : {"annotations", "_meta"}) {
    const std::optional<size_t> value = document.tape().find(block, key);
    if (!value || !document.marks(*value).empty()) continue;
    append_key(text, key);
    text += document.tape().source(*value);
  }
  return text + "}";
}

// --- blocks ----------------------------------------------------------------------------------

namespace {

std::optional<Load> only_marker(const Document& document, size_t holder, std::string_view member) {
  const std::optional<size_t> value = document.tape().find(holder, member);
  const std::optional<uint32_t> segment = value ? document.only(*value) : std::nullopt;
  if (!segment) return std::nullopt;
  return Load{*segment, holder, member};
}

std::optional<Load> whole_marker(const Document& document, size_t holder, std::string_view member) {
  const std::optional<size_t> value = document.tape().find(holder, member);
  const std::optional<uint32_t> segment = value ? document.whole(*value) : std::nullopt;
  if (!segment) return std::nullopt;
  return Load{*segment, holder, member};
}

/// Appends the members of an object except those in `without`.
void append_members(std::string& out, const Document& document, size_t object, const Notes& notes,
                    std::initializer_list<std::string_view> without) {
  for (const size_t value : document.children(object)) {
    const std::string key = document.tape().string(value - 1);
    if (std::find(without.begin(), without.end(), key) != without.end()) continue;
    if (out.back() != '{') out += ',';
    append_member(out, document, value, notes);
  }
}

std::string show_shown(const Document& document, size_t block, const Notes& notes,
                       const Shown& shown, const Load& load) {
  std::string out = "{";
  append_members(out, document, block, notes, {"type", "data", "mimeType", "resource", "_meta"});
  append_key(out, "type");
  out += json_string("image");
  append_key(out, "mimeType");
  out += json_string(shown.mime_type);
  append_key(out, "data");
  out += json_string(shown.data);
  notes.append_artifact(out, load.segment);
  out += '}';
  return out;
}

/// The text of a block that has a configured field with a summary of its own in it.
std::optional<size_t> text_with_summaries(const Document& document, size_t block,
                                          const SegmentTable& table) {
  if (!document.is_block(block, "text")) return std::nullopt;
  const std::optional<size_t> text = document.tape().find(block, "text");
  if (!text || document.tape()[*text].type != Type::string) return std::nullopt;
  const auto marks = document.marks(*text);
  const bool summarised = std::any_of(marks.begin(), marks.end(), [&](const Mark& mark) {
    return !table.about(mark.segment).summary_template.empty();
  });
  return summarised ? text : std::nullopt;
}

/// A string member with markers in it that is not a single marker.
std::optional<size_t> text_around(const Document& document, size_t holder,
                                  std::string_view member) {
  const std::optional<size_t> value = document.tape().find(holder, member);
  if (!value || document.tape()[*value].type != Type::string) return std::nullopt;
  if (document.marks(*value).empty() || document.only(*value)) return std::nullopt;
  return value;
}

}  // namespace

std::optional<size_t> text_for_blob(const Document& document, size_t resource) {
  return text_around(document, resource, "blob");
}

std::optional<size_t> text_for_bytes(const Document& document, size_t block) {
  if (document.is_block(block, "image") || document.is_block(block, "audio")) {
    return text_around(document, block, "data");
  }
  const std::optional<size_t> resource = document.tape().find(block, "resource");
  if (!resource || !document.is_block(block, "resource")) return std::nullopt;
  return text_for_blob(document, *resource);
}

std::optional<Load> load_of_resource(const Document& document, size_t resource) {
  std::optional<Load> load = only_marker(document, resource, "blob");
  return load ? load : whole_marker(document, resource, "text");
}

namespace {

/// Whether an image or audio block has no bytes at all: the providers of models refuse it.
bool lacks_bytes(const Document& document, size_t block) {
  if (!document.is_block(block, "image") && !document.is_block(block, "audio")) return false;
  const std::optional<size_t> data = document.tape().find(block, "data");
  return !data || (document.tape()[*data].type == Type::string &&
                   document.inside(*data).find_first_not_of(" \\ntr\t") == std::string_view::npos);
}

}  // namespace

namespace {

/// Whether bytes are short text, which stands in the place of a file.
bool is_short_text(std::string_view bytes, size_t most) {
  return is_printable(bytes) && !has_binary_magic(as_bytes(bytes)) && count_chars(bytes) <= most;
}

/// Whether text is what a server answers in the place of a file that it does not have: a page or
/// JSON.
bool is_answer(std::string_view text) {
  const std::optional<FileType> type = sniff(as_bytes(text));
  if (type) return type->mime_type == "text/html" || type->mime_type == "application/xml";
  Tape tape;
  return text.starts_with('{') && Tape::parse(text, tape).ok();
}

/// Whether no part of a text may be base64, however badly it is written: words, a path, an address.
bool is_plainly_words(std::string_view text) {
  constexpr size_t kLongestWord = 64;
  size_t word = 0;
  bool other = false;
  for (const char c : text) {
    const bool encodes = is_alphanumeric(c) || is_among(c, "+/=-_");
    other = other || (!encodes && !is_among(c, "\r\n"));
    word = encodes ? word + 1 : 0;
    if (word > kLongestWord) return false;
  }
  return other;
}

}  // namespace

std::optional<std::string> resource_as_text(const Document& document, size_t resource,
                                            size_t most) {
  const Tape& tape = document.tape();
  const std::optional<size_t> blob = tape.find(resource, "blob");
  if (!blob || tape[*blob].type != Type::string || tape.find(resource, "text")) return std::nullopt;
  const std::string declared = plain_type(string_member(document, resource, "mimeType"));
  const std::string_view source = tape.source(*blob);
  if (!document.marks(*blob).empty() || source.size() / 8 > most) return std::nullopt;
  const std::optional<Payload> payload = read_base64(tape.string(*blob));
  if (!payload || !is_short_text(payload->bytes, most)) return std::nullopt;
  const bool is_declared = declared.empty() || is_text_type(declared);
  if (!is_declared && !is_answer(payload->bytes)) return std::nullopt;
  const uint32_t begin = tape[resource].begin;
  const Node& key = tape[*blob - 1];
  std::vector<Splice> splices = {
      {key.begin - begin, tape[*blob].end - begin, "\"text\":" + json_string(payload->bytes)}};
  if (const auto type = tape.find(resource, "mimeType"); type && !is_declared) {
    splices.push_back(
        {tape[*type].begin - begin, tape[*type].end - begin, json_string("text/plain")});
  }
  return apply_splices(tape.source(resource), std::move(splices));
}

std::optional<std::string> media_as_text(const Document& document, size_t block, size_t most) {
  if (!document.is_block(block, "image") && !document.is_block(block, "audio")) return std::nullopt;
  const Tape& tape = document.tape();
  const std::optional<size_t> data = tape.find(block, "data");
  if (!data || tape[*data].type != Type::string || !document.marks(block).empty() ||
      tape.source(*data).size() / 8 > most) {
    return std::nullopt;
  }
  const std::string value = tape.string(*data);
  if (value.empty() || value.starts_with(kScheme) || value.starts_with("data:")) {
    return std::nullopt;
  }
  const std::optional<Payload> payload = read_base64(value);
  const std::string& text = payload ? payload->bytes : value;
  const bool shown = payload ? is_answer(text) : is_plainly_words(text) && !read_loose_base64(text);
  if (!shown) return std::nullopt;
  if (!is_short_text(text, most)) return std::nullopt;
  return Object().text("type", "text").text("text", text).end();
}

std::optional<std::string> block_instead(const Document& document, size_t block, size_t most) {
  if (lacks_bytes(document, block)) {
    const bool audio = document.is_block(block, "audio");
    return note_as_block(std::string("[sluice] ") + (audio ? "A sound" : "An image") +
                         " without any bytes: the tool sent nothing of it.");
  }
  if (std::optional<std::string> text = media_as_text(document, block, most)) return text;
  const std::optional<size_t> resource = document.tape().find(block, "resource");
  if (!resource || !document.is_block(block, "resource")) return std::nullopt;
  std::optional<std::string> text = resource_as_text(document, *resource, most);
  if (!text || !document.marks(block).empty()) return std::nullopt;
  const uint32_t begin = document.tape()[block].begin;
  const Node& place = document.tape()[*resource];
  return apply_splices(document.tape().source(block),
                       {{place.begin - begin, place.end - begin, std::move(*text)}});
}

std::optional<Showable::Kind> kind_of_block(const Document& document, size_t block,
                                            const Load& load) {
  if (load.member == "blob") return Showable::Kind::resource;
  if (load.member != "data") return std::nullopt;
  return document.is_block(block, "audio") ? Showable::Kind::audio : Showable::Kind::image;
}

std::optional<Load> load_of_block(const Document& document, size_t block) {
  if (document.is_block(block, "image") || document.is_block(block, "audio")) {
    return only_marker(document, block, "data");
  }
  if (document.is_block(block, "text")) return whole_marker(document, block, "text");
  const std::optional<size_t> resource = document.tape().find(block, "resource");
  if (!resource || !document.is_block(block, "resource")) return std::nullopt;
  if (const std::optional<uint32_t> segment = document.whole(*resource)) {
    return Load{*segment, block, "resource"};
  }
  return load_of_resource(document, *resource);
}

std::string show_block(const Document& document, size_t block, const Notes& notes,
                       const SegmentTable& table, size_t most) {
  if (std::optional<std::string> instead = block_instead(document, block, most)) return *instead;
  std::string out;
  const std::optional<Load> load = load_of_block(document, block);
  if (!load) {
    Document inner;
    if (const std::optional<size_t> text = text_with_summaries(document, block, table);
        text && read_json_text(document, *text, table.size(), inner)) {
      std::string shown;
      append_showing(shown, inner, 0, notes);
      out = "{";
      append_members(out, document, block, notes, {"text"});
      append_key(out, "text");
      return out + json_string(shown) + '}';
    }
    append_showing(out, document, block, notes);
    return out;
  }
  const std::optional<Shown>& shown = table.about(load->segment).shown;
  if (shown && shown->kind == Showable::Kind::image) {
    return show_shown(document, block, notes, *shown, *load);
  }
  out = "{";
  append_members(out, document, block, notes, {"data", "mimeType", "text", "resource", "_meta"});
  if (load->holder != block) {
    append_members(out, document, load->holder, notes,
                   {"type", "blob", "text", "mimeType", "_meta"});
  }
  notes.append_artifact(out, load->segment);
  out += '}';
  return out;
}

std::string show_resource(const Document& document, size_t resource, const Notes& notes,
                          size_t most) {
  if (std::optional<std::string> text = resource_as_text(document, resource, most)) return *text;
  std::string out;
  const std::optional<Load> load = load_of_resource(document, resource);
  if (!load) {
    append_showing(out, document, resource, notes);
    return out;
  }
  out = "{";
  append_members(out, document, resource, notes, {"blob", load->member, "mimeType", "_meta"});
  notes.append_artifact(out, load->segment);
  out += '}';
  return out;
}

// --- resource links ------------------------------------------------------------------------------

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
