#include "layers/result/references.h"

#include <algorithm>
#include <map>

#include "json/object.h"
#include "sluice/codec.h"
#include "sluice/layers.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice {

namespace layers {

// --- references written and parsed ---------------------------------------------------------------

namespace {

bool is_plain(char c) {
  return is_alphanumeric(c) || is_among(c, "-._/");
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

bool undo_percent(std::string_view text, std::string& out) {
  bool well_formed = true;
  for (size_t at = 0; at < text.size(); ++at) {
    uint8_t byte[decoded_capacity(2)];
    if (text[at] == '%' && text.size() - at >= 3 &&
        decode(as_bytes(text.substr(at + 1, 2)), Alphabet::hex, byte).written == 1) {
      out += static_cast<char>(byte[0]);
      at += 2;
    } else {
      well_formed = well_formed && text[at] != '%';
      out += text[at];
    }
  }
  return well_formed;
}

std::string form_of(const Segment& segment) {
  if (segment.kind != SegmentKind::run) return segment.spelling;
  return form_name(segment.form, segment.mime_type);
}

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
  Reference reference;
  if (!undo_percent(uri.substr(0, mark), reference.id) || reference.id.empty() ||
      !undo_percent(parameter(query, "type"), reference.mime_type)) {
    return std::nullopt;
  }
  std::optional<Form> form = parse_form(parameter(query, "form"), reference.mime_type);
  if (!form) return std::nullopt;
  reference.form = std::move(*form);
  return reference;
}

// --- the list --------------------------------------------------------------------------------

std::string pointer_to(std::string_view path, std::string_view key, int duplicate) {
  std::string out(path);
  out += '/';
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  if (duplicate >= 0) out += "~d" + std::to_string(duplicate);
  return out;
}

std::string pointer_to(std::string_view path, size_t index) {
  return std::string(path) + "/" + std::to_string(index);
}

void Edits::add(const std::string& entry) {
  if (!text_.empty()) text_ += ',';
  text_ += entry;
}

void Edits::reference(std::string_view at, std::string_view uri, size_t n, Hole kind, bool key,
                      std::string_view wrap, std::string_view form, std::string_view from) {
  Object entry;
  entry.text("at", at).text("uri", uri);
  if (n > 0) entry.number("n", n);
  if (kind != Hole::run) entry.text("kind", kHoleNames[static_cast<size_t>(kind)]);
  if (key) entry.flag("key", true);
  if (!wrap.empty()) entry.text("wrap", wrap);
  if (!form.empty()) entry.text("form", form);
  if (!from.empty()) entry.text("from", from);
  add(entry.end());
}

void Edits::replaced(std::string_view at, std::string_view was, const Edits& inside) {
  Object entry;
  entry.text("at", at).source("was", was);
  if (!inside.empty()) entry.source("refs", inside.json());
  add(entry.end());
}

void Edits::added(std::string_view at) {
  add(Object().text("at", at).flag("added", true).end());
}

// --- references in place of markers ----------------------------------------------------------

namespace {

size_t count_schemes(std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find(kScheme); at != std::string_view::npos;
       at = text.find(kScheme, at + kScheme.size())) {
    ++count;
  }
  return count;
}

Hole hole_of(const Segment& segment, bool whole) {
  const bool value = whole && segment.bare;
  if (segment.kind == SegmentKind::run) return value ? Hole::bytes : Hole::run;
  return value ? Hole::json : Hole::text;
}

}  // namespace

void Referrer::refer(size_t node, const std::string& at, std::vector<Splice>& splices,
                     Edits& edits) {
  if (document_.marks(node).empty()) return;
  const Type type = document_.tape()[node].type;
  if (type == Type::string) return refer_string(node, at, false, splices, edits);
  const std::vector<std::string> names =
      type == Type::object ? members(at, node) : std::vector<std::string>();
  size_t index = 0;
  for (const size_t child : document_.children(node)) {
    if (type == Type::object) {
      refer_member(child, names[index++], splices, edits);
    } else {
      refer(child, pointer_to(at, index++), splices, edits);
    }
  }
}

void Referrer::refer_member(size_t value, const std::string& at, std::vector<Splice>& splices,
                            Edits& edits) {
  refer(value, at, splices, edits);
  refer_key(value, at, splices, edits);
}

void Referrer::refer_key(size_t value, const std::string& at, std::vector<Splice>& splices,
                         Edits& edits) {
  if (!document_.marks(value - 1).empty()) refer_string(value - 1, at, true, splices, edits);
}

// The reference in place of a marker, with a space where it would seem to go on.
std::string Referrer::write_uri(const Mark& mark, bool whole) const {
  std::string uri = notes_.uri(mark.segment, true);
  if (!whole && continues_uri(document_.text()[mark.offset + kMarkerBytes])) uri += ' ';
  return uri;
}

void Referrer::refer_string(size_t node, const std::string& at, bool key,
                            std::vector<Splice>& splices, Edits& edits) {
  const std::string_view text = document_.text();
  const bool whole = !key && document_.whole(node).has_value();
  std::string value;  // as written, up to the place
  size_t read = document_.tape()[node].begin + 1;
  size_t counted = 0;
  size_t schemes = 0;
  for (const Mark& mark : document_.marks(node)) {
    const std::string uri = write_uri(mark, whole);
    append_unescaped(value, text.substr(read, mark.offset - read));
    schemes += count_schemes(std::string_view(value).substr(counted));
    counted = value.size();
    read = mark.offset + kMarkerBytes;
    const About& about = table_.about(mark.segment);
    const std::string from = about.original ? notes_.uri(*about.original, true) : std::string();
    const Segment& segment = table_.segment(mark.segment);
    const Hole hole = about.original ? Hole::text : hole_of(segment, whole);
    const std::string form = about.original ? std::string() : form_of(segment);
    edits.reference(at, uri, schemes, hole, key, about.wrap, form, from);
    splices.push_back({mark.offset, static_cast<uint32_t>(read), uri});
    referred_.push_back(mark.segment);
    ++schemes;
  }
}

Rewritten Referrer::alone(size_t node) {
  std::vector<Splice> splices;
  Rewritten out;
  refer(node, "", splices, out.edits);
  const uint32_t begin = document_.tape()[node].begin;
  for (Splice& splice : splices) {
    splice.begin -= begin;
    splice.end -= begin;
  }
  out.text = apply_splices(document_.tape().source(node), std::move(splices));
  return out;
}

// A key as it will be written, with references.
std::string Referrer::key_of(size_t value) const {
  const size_t key = value - 1;
  std::string source;
  size_t read = document_.tape()[key].begin + 1;
  for (const Mark& mark : document_.marks(key)) {
    source += document_.text().substr(read, mark.offset - read);
    source += write_uri(mark, false);
    read = mark.offset + kMarkerBytes;
  }
  source += document_.text().substr(read, document_.tape()[key].end - 1 - read);
  std::string out;
  append_unescaped(out, source);
  return out;
}

std::vector<std::string> Referrer::members(const std::string& at, size_t object) const {
  std::vector<std::string> keys;
  std::map<std::string, int> left;
  for (const size_t value : document_.children(object)) keys.push_back(key_of(value));
  for (const std::string& key : keys) ++left[key];
  std::map<std::string, int> before;
  std::vector<std::string> pointers;
  for (const std::string& key : keys) {
    const bool last = --left[key] == 0;
    pointers.push_back(pointer_to(at, key, last ? -1 : before[key]));
    ++before[key];
  }
  return pointers;
}

}  // namespace layers

// --- a reference ---------------------------------------------------------------------------------

namespace {

/// The prefix of the ids of artifacts that no store kept (`web/src/artifacts/unstored.ts`).
constexpr std::string_view kUnstored = "truncated_";

}  // namespace

std::string reference(const Segment& segment, std::string_view id, bool with_form) {
  std::string uri = layers::plain_uri(id);
  uri += "?type=";
  layers::append_percent(uri, segment.mime_type);
  uri += "&size=" + std::to_string(segment.bytes);
  if (!id.starts_with(kUnstored)) return uri;
  if (with_form && segment.kind == SegmentKind::run) {
    const std::string form = layers::form_of(segment);
    if (!form.empty()) uri += "&form=" + form;
  }
  // Inside a longer string there is no other place for this.
  uri += "&error=not-stored";
  return uri;
}

}  // namespace sluice
