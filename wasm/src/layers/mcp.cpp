#include "layers/mcp.h"

#include "json/object.h"
#include "layers/json_string.h"
#include "layers/splicer.h"

namespace sluice::layers {

Mcp::Mcp(const Config& config, const Call& call, const Document& document, const Ledger& ledger)
    : document_(document),
      ledger_(ledger),
      notes_(config, call, ledger),
      media_(config, call),
      shape_(call.transformed ? Shape{} : shape_of(document, ledger.segments())),
      referrer_(document, ledger, notes_) {}

// A list of the server's own under our name must not be taken for ours, so it is moved into ours.
std::optional<size_t> Mcp::server_refs() const {
  const std::optional<size_t> meta = document_.tape().find(shape_.body, "_meta");
  if (!meta || shape_.kind == Shape::Kind::error) return std::nullopt;
  return document_.tape().find(*meta, kRefsKey);
}

bool Mcp::changes() const {
  return !document_.marks(0, document_.text().size()).empty() || server_refs().has_value();
}

std::string Mcp::write() {
  if (!changes()) return std::string(document_.text());
  splices_.clear();
  edits_ = {};
  const bool object = document_.tape()[shape_.body].type == Type::object;
  if (shape_.kind == Shape::Kind::collapsed) {
    rewrite_collapsed();
  } else if (shape_.kind == Shape::Kind::blocks) {
    rewrite_items("");
    finish_list("");
  } else if (object && shape_.kind != Shape::Kind::error) {
    rewrite_result();
  } else {
    referrer_.refer(shape_.body, "", splices_, edits_);
  }
  // Around the body there may be more: the members of an envelope.
  if (shape_.body != 0) {
    for (const size_t value : document_.children(0)) {
      Edits outside;
      if (value != shape_.body) referrer_.refer(value, "", splices_, outside);
    }
  }
  return apply_splices(document_.text(), splices_);
}

void Mcp::rewrite_collapsed() {
  const uint32_t segment = *document_.whole(shape_.body);
  const Rewritten was = referrer_.alone(shape_.body);
  edits_.replaced("", was.text, was.edits);
  std::string body = "{\"content\":[" + note_as_block(notes_.note(segment)) + "]" +
                     ledger_.segment(segment).members + "}";
  Tape tape;
  if (Tape::parse(body, tape).ok()) body = apply_splices(body, {list_in(tape, 0)});
  const Node& node = document_.tape()[shape_.body];
  splices_.push_back({node.begin, node.end, std::move(body)});
}

void Mcp::rewrite_result() {
  const std::vector<std::string> names = referrer_.members("", shape_.body);
  const std::optional<size_t> meta = document_.tape().find(shape_.body, "_meta");
  std::string list_at;
  size_t index = 0;
  for (const size_t value : document_.children(shape_.body)) {
    const std::string& at = names[index++];
    if (shape_.list == value) {
      list_at = at;
      rewrite_items(at);
    } else if (shape_.structured == value && shape_.kind == Shape::Kind::result) {
      rewrite_structured(at);
    } else if (meta == value) {
      rewrite_meta(value, at);
    } else {
      referrer_.refer_member(value, at, splices_, edits_);
    }
  }
  if (shape_.list) finish_list(list_at);
  finish_body();
}

// --- content ----------------------------------------------------------------------------------

void Mcp::rewrite_items(const std::string& at) {
  size_t index = 0;
  for (const size_t item : document_.children(*shape_.list)) {
    const std::string item_at = pointer_to(at, index++);
    if (document_.marks(item).empty()) continue;
    if (shape_.kind == Shape::Kind::contents) {
      rewrite_entry(item, item_at);
    } else {
      rewrite_block(item, item_at);
    }
  }
}

void Mcp::rewrite_block(size_t block, const std::string& at) {
  if (const std::optional<uint32_t> segment = document_.whole(block)) {
    noted_.push_back(*segment);
    return replace(block, at, *segment, note_as_block(notes_.note(*segment)));
  }
  // No client takes text for bytes.
  if (const std::optional<size_t> text = text_for_bytes(document_, block)) {
    return replace(block, at, std::nullopt, block_with(block, text_of(*text)));
  }
  const std::optional<Load> load = load_of_block(document_, block);
  if (!load) return referrer_.refer(block, at, splices_, edits_);
  const bool image = document_.is_block(block, "image");
  const std::optional<size_t> data = document_.tape().find(load->holder, load->member);
  if (image && document_.whole(*data) && document_.marks(block).size() == 1 &&
      !ledger_.about(load->segment).original && media_.keeps(ledger_.segment(load->segment))) {
    return keep(*data, *load);
  }
  noted_.push_back(load->segment);
  replace(block, at, load->segment, block_with(block, json_string(notes_.note(load->segment))));
}

void Mcp::keep(size_t data, const Load& load) {
  const Node& node = document_.tape()[data];
  splices_.push_back({node.begin, node.end, Media::data(ledger_.segment(load.segment))});
  shown_.push_back(load.segment);
}

void Mcp::replace(size_t node, const std::string& at, std::optional<uint32_t> segment,
                  std::string with) {
  Referrer inside(document_, ledger_, notes_);
  const Rewritten was = inside.alone(node);
  for (const uint32_t other : inside.referred()) {
    if (other != segment) beside_.push_back(other);
  }
  edits_.replaced(at, was.text, was.edits);
  const Node& place = document_.tape()[node];
  splices_.push_back({place.begin, place.end, std::move(with)});
}

/// A string with references in place, as JSON source.
std::string Mcp::text_of(size_t string) const {
  std::string out;
  append_referring(out, document_, string, notes_);
  return out;
}

// The text stands for the whole block; what is said to clients about the block stays.
std::string Mcp::block_with(size_t block, std::string_view text) const {
  std::string out = Object().text("type", "text").source("text", text).end();
  out.pop_back();
  for (const std::string_view key : {"annotations", "_meta"}) {
    const std::optional<size_t> value = document_.tape().find(block, key);
    if (!value || !document_.marks(*value).empty()) continue;
    append_key(out, key);
    out += document_.tape().source(*value);
  }
  return out + "}";
}

/// `uri` is for an entry whose own cannot stand.
std::string Mcp::entry_with(size_t entry, const std::string& uri, std::string_view text) const {
  const std::optional<size_t> own = document_.tape().find(entry, "uri");
  Object out;
  if (own && document_.marks(*own).empty()) {
    out.source("uri", document_.tape().source(*own));
  } else {
    out.text("uri", uri);
  }
  out.text("mimeType", "text/plain").source("text", text);
  const std::optional<size_t> meta = document_.tape().find(entry, "_meta");
  if (meta && document_.marks(*meta).empty()) {
    out.source("_meta", document_.tape().source(*meta));
  }
  return out.end();
}

std::string Mcp::note_entry(size_t entry, uint32_t segment) const {
  return entry_with(entry, notes_.uri(segment, false), json_string(notes_.note(segment)));
}

void Mcp::rewrite_entry(size_t entry, const std::string& at) {
  if (const std::optional<size_t> text = text_for_blob(document_, entry)) {
    const std::string uri = notes_.uri(document_.marks(*text).front().segment, false);
    return replace(entry, at, std::nullopt, entry_with(entry, uri, text_of(*text)));
  }
  const std::optional<uint32_t> whole = document_.whole(entry);
  const std::optional<Load> load = load_of_resource(document_, entry);
  if (!whole && !load) return referrer_.refer(entry, at, splices_, edits_);
  const uint32_t segment = whole ? *whole : load->segment;
  replace(entry, at, segment, note_entry(entry, segment));
}

}  // namespace sluice::layers
