#include "layers/edits.h"

#include <algorithm>
#include <map>

#include "json/object.h"
#include "layers/references.h"
#include "sluice/tape.h"

namespace sluice::layers {

// --- the list --------------------------------------------------------------------------------

namespace {

std::string_view name_of(Hole kind) {
  switch (kind) {
    case Hole::text:
      return "text";
    case Hole::bytes:
      return "bytes";
    case Hole::json:
      return "json";
    case Hole::run:
      break;
  }
  return {};
}

}  // namespace

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
                      std::string_view wrap, std::string_view from) {
  Object entry;
  entry.text("at", at).text("uri", uri);
  if (n > 0) entry.number("n", n);
  if (kind != Hole::run) entry.text("kind", name_of(kind));
  if (key) entry.flag("key", true);
  if (!wrap.empty()) entry.text("wrap", wrap);
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
  if (!document_.marks(value - 1).empty()) refer_string(value - 1, at, true, splices, edits);
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
    const std::string uri = notes_.uri(mark.segment, true);
    append_unescaped(value, text.substr(read, mark.offset - read));
    schemes += count_schemes(std::string_view(value).substr(counted));
    counted = value.size();
    read = mark.offset + kMarkerBytes;
    const About& about = table_.about(mark.segment);
    const std::string from = about.original ? notes_.uri(*about.original, true) : std::string();
    const Hole hole = about.original ? Hole::text : hole_of(table_.segment(mark.segment), whole);
    edits.reference(at, uri, schemes, hole, key, about.wrap, from);
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
    source += notes_.uri(mark.segment, true);
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

}  // namespace sluice::layers
