#include <algorithm>

#include "json/object.h"
#include "layers/dialects.h"
#include "layers/result/notes.h"

namespace sluice::layers {

Mcp::Mcp(const Config& config, const Call& call, const Document& document,
         const SegmentTable& table)
    : document_(document),
      table_(table),
      structure_notes_(call.structure_notes),
      most_(config.max_inline_size),
      shape_(call.transformed ? Shape{} : shape_of(document, table.segments())),
      notes_(config, call, table, shape_.is_error),
      referrer_(document, table, notes_) {}

// The server may have sent a list under our name. It must not be mistaken for ours, so it moves
// into ours.
std::optional<size_t> Mcp::server_refs() const {
  const std::optional<size_t> meta = document_.tape().find(shape_.body, "_meta");
  if (!meta || shape_.kind == Shape::Kind::error) return std::nullopt;
  return document_.tape().find(*meta, kRefsKey);
}

bool Mcp::changes() const {
  return !document_.marks(0, document_.text().size()).empty() || server_refs().has_value() ||
         has_instead();
}

// What stands in the place of a block or entry from which nothing was taken.
std::optional<std::string> Mcp::instead_of(size_t item) const {
  const bool entry = shape_.kind == Shape::Kind::contents;
  return (entry ? resource_as_text : block_instead)(document_, item, most_);
}

bool Mcp::has_instead() const {
  const bool lists = shape_.kind == Shape::Kind::result || shape_.kind == Shape::Kind::blocks ||
                     shape_.kind == Shape::Kind::contents;
  if (!lists || !shape_.list || !shape_.listed(document_)) return false;
  const std::vector<uint32_t> items = document_.children(*shape_.list);
  return std::any_of(items.begin(), items.end(),
                     [&](size_t item) { return instead_of(item).has_value(); });
}

std::string Mcp::write() {
  if (!changes()) return std::string(document_.text());
  splices_.clear();
  edits_ = {};
  told_ = {};
  told_structured_ = {};
  references_told_ = 0;
  repeated_.clear();
  if (shape_.structured && !document_.marks(*shape_.structured).empty()) {
    repeated_ = texts_that_say_structure(document_, shape_, table_);
  }
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
  // The envelope around the body may have members too.
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
  std::string body = "{\"content\":[" + note(segment) + "]" + table_.segment(segment).members + "}";
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
    if (document_.marks(item).empty()) {
      std::optional<std::string> instead = instead_of(item);
      if (!instead) continue;
      const Node& place = document_.tape()[item];
      edits_.replaced(item_at, document_.tape().source(item), {});
      splices_.push_back({place.begin, place.end, std::move(*instead)});
      continue;
    }
    if (shape_.kind == Shape::Kind::contents) {
      rewrite_entry(item, item_at);
    } else {
      rewrite_block(item, item_at);
    }
  }
}

void Mcp::rewrite_block(size_t block, const std::string& at) {
  if (repeat_structured(block, at)) return;
  if (const std::optional<uint32_t> segment = document_.whole(block)) {
    noted_.push_back(*segment);
    return replace(block, at, *segment, note(*segment));
  }
  // Clients reject text where they expect bytes.
  if (const std::optional<size_t> text = text_for_bytes(document_, block)) {
    return replace(block, at, std::nullopt, block_with(block, text_of(*text)));
  }
  const std::optional<Load> load = load_of_block(document_, block);
  if (!load) return referrer_.refer(block, at, splices_, edits_);
  if (const std::optional<Shown>& shown = table_.about(load->segment).shown) {
    shown_.push_back(load->segment);
    return replace(block, at, load->segment, block_shown(document_, block, *shown));
  }
  noted_.push_back(load->segment);
  replace(block, at, load->segment,
          block_with(block, json_string(notes_.note(load->segment, told_))));
}

void Mcp::replace(size_t node, const std::string& at, std::optional<uint32_t> segment,
                  std::string with) {
  Referrer inside(document_, table_, notes_);
  const Rewritten was = inside.alone(node);
  for (const uint32_t other : inside.referred()) {
    if (other != segment) beside_.push_back(other);
  }
  edits_.replaced(at, was.text, was.edits);
  const Node& place = document_.tape()[node];
  splices_.push_back({place.begin, place.end, std::move(with)});
}

/// A string with references, as JSON source.
std::string Mcp::text_of(size_t string) const {
  std::string out;
  append_referring(out, document_, string, notes_);
  return out;
}

// The text replaces the whole block. Members meant for clients stay.
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

/// `uri` is used if the entry cannot keep its own.
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

/// A block of its own about one segment.
std::string Mcp::note(uint32_t segment) {
  return note_as_block(notes_.note(segment, told_));
}

// Clients show one entry without the others.
std::string Mcp::note_entry(size_t entry, uint32_t segment) const {
  Told told;
  return entry_with(entry, notes_.uri(segment, false), json_string(notes_.note(segment, told)));
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

// --- what is added behind what was there -----------------------------------------------------

namespace {

/// How many unstored texts get a block with their beginning.
constexpr size_t kMaxBeginnings = 8;

/// How many references in `structuredContent` have a note.
constexpr size_t kMaxToldReferences = 8;

void add_once(std::vector<uint32_t>& list, uint32_t segment, const SegmentTable& table) {
  const std::string id = table.id(segment);
  const bool known =
      std::any_of(list.begin(), list.end(), [&](uint32_t other) { return table.id(other) == id; });
  if (!known) list.push_back(segment);
}

}  // namespace

// Clients of revisions before 2026-07-28 require an object here.
void Mcp::rewrite_structured(const std::string& at) {
  const size_t node = *shape_.structured;
  const std::optional<uint32_t> segment = document_.whole(node);
  const bool collapsed =
      segment && (table_.segment(*segment).kind == SegmentKind::json ||
                  table_.segment(*segment).form.encoding == Encoding::byte_object);
  if (!collapsed || was_array(table_.segment(*segment))) {
    tell_structured(node, at);
    return referrer_.refer_key(node, at, splices_, edits_);
  }
  const Rewritten was = referrer_.alone(node);
  edits_.replaced(at, was.text, was.edits);
  splices_.push_back({document_.tape()[node].begin, document_.tape()[node].end,
                      "{\"artifact\":" + told_reference(*segment).value_or(was.text) + "}"});
}

// Some hosts show this half alone, so its references say what they stand for. Schemas of results
// allow any string that begins with a reference.
void Mcp::tell_structured(size_t node, const std::string& at) {
  if (document_.marks(node).empty()) return;
  const Type type = document_.tape()[node].type;
  if (const std::optional<uint32_t> segment = document_.whole(node)) {
    const std::optional<std::string> told = told_reference(*segment);
    if (!told) return referrer_.refer(node, at, splices_, edits_);
    const Rewritten was = referrer_.alone(node);
    edits_.replaced(at, was.text, was.edits);
    return splices_.push_back({document_.tape()[node].begin, document_.tape()[node].end, *told});
  }
  if (type == Type::string) return referrer_.refer(node, at, splices_, edits_);
  const std::vector<std::string> names =
      type == Type::object ? referrer_.members(at, node) : std::vector<std::string>();
  size_t index = 0;
  for (const size_t child : document_.children(node)) {
    const std::string child_at = type == Type::object ? names[index] : pointer_to(at, index);
    ++index;
    tell_structured(child, child_at);
    if (type == Type::object) referrer_.refer_key(child, child_at, splices_, edits_);
  }
}

/// A reference with its note, as JSON source. Empty where the note is not wanted, or is longer than
/// what it stands for.
std::optional<std::string> Mcp::told_reference(uint32_t segment) {
  if (structure_notes_ == StructureNotes::none || references_told_ >= kMaxToldReferences) {
    return std::nullopt;
  }
  const size_t previews =
      structure_notes_ == StructureNotes::previews ? told_structured_.previews : SIZE_MAX;
  Told told{told_structured_.how_to_read, previews};
  const std::string text = plain_uri(table_.id(segment)) + " " + notes_.note(segment, told);
  if (count_chars(text) >= table_.segment(segment).chars) return std::nullopt;
  told_structured_ = told;
  ++references_told_;
  return json_string(text);
}

/// Whether all that a node refers to is what another refers to.
bool Mcp::has_ids_of(size_t node, size_t other) const {
  const std::span<const Mark> marks = document_.marks(node);
  const std::span<const Mark> others = document_.marks(other);
  return std::all_of(marks.begin(), marks.end(), [&](const Mark& mark) {
    return std::any_of(others.begin(), others.end(), [&](const Mark& known) {
      return table_.id(known.segment) == table_.id(mark.segment);
    });
  });
}

// The text says what the structured half says: it refers to the same artifacts, and each is told of
// once.
bool Mcp::repeat_structured(size_t block, const std::string& at) {
  const auto found =
      std::find_if(repeated_.begin(), repeated_.end(),
                   [&](const Repetition& repetition) { return repetition.block == block; });
  if (found == repeated_.end() || has_ids_of(block, found->value)) return false;
  if (document_.marks(found->value).empty()) return false;
  std::string text;
  if (const std::optional<uint32_t> segment = document_.whole(found->value)) {
    text = json_string(notes_.note(*segment, told_));
    noted_.push_back(*segment);
  } else if (document_.tape()[found->value].type == Type::string) {
    text = text_of(found->value);
  } else {
    std::string value;
    append_referring(value, document_, found->value, notes_);
    text = json_string(value);
  }
  const Rewritten was = Referrer(document_, table_, notes_).alone(block);
  edits_.replaced(at, was.text, was.edits);
  const Node& place = document_.tape()[block];
  splices_.push_back({place.begin, place.end, block_with(block, text)});
  return true;
}

// --- notes ------------------------------------------------------------------------------------

// The segments that no block has mentioned yet.
std::vector<uint32_t> Mcp::news() const {
  std::vector<uint32_t> told = noted_;
  for (const std::vector<uint32_t>* list : {&shown_, &beside_, &referrer_.referred()}) {
    for (const uint32_t segment : *list) add_once(told, segment, table_);
  }
  told.erase(told.begin(), told.begin() + static_cast<ptrdiff_t>(noted_.size()));
  return told;
}

// One block lists them all. Each unstored text gets a block of its own, because it exists nowhere
// else.
std::vector<std::string> Mcp::tail_blocks() {
  std::vector<uint32_t> listed;
  std::vector<std::string> blocks;
  for (const uint32_t segment : news()) {
    if (!notes_.beginning(segment).empty() && blocks.size() < kMaxBeginnings) {
      blocks.push_back(note(segment));
    } else {
      listed.push_back(segment);
    }
  }
  if (!listed.empty()) {
    blocks.insert(blocks.begin(), note_as_block(notes_.list(listed, told_)));
  }
  return blocks;
}

void Mcp::finish_list(const std::string& at) {
  const size_t list = *shape_.list;
  const bool entries = shape_.kind == Shape::Kind::contents;
  if (const std::optional<uint32_t> segment = document_.whole(list)) {
    std::string items = entries ? note_entry(list, *segment) : note(*segment);
    noted_.push_back(*segment);
    if (!entries) {
      for (const std::string& block : tail_blocks()) items += "," + block;
    }
    return replace(list, at, *segment, "[" + items + "]");
  }
  if (entries) return;
  size_t count = document_.tape().count(list);
  const uint32_t end = document_.tape()[list].end - 1;
  std::string items;
  for (const std::string& block : tail_blocks()) {
    items += (count > 0 ? "," : "") + block;
    edits_.added(pointer_to(at, count++));
  }
  if (!items.empty()) splices_.push_back({end, end, std::move(items)});
}

// --- _meta ------------------------------------------------------------------------------------

void Mcp::rewrite_meta(size_t meta, const std::string& at) {
  const Node& node = document_.tape()[meta];
  if (node.type != Type::object) return;
  const std::vector<std::string> names = referrer_.members(at, meta);
  size_t index = 0;
  for (const size_t value : document_.children(meta)) {
    const std::string& name = names[index++];
    if (value != server_refs()) referrer_.refer_member(value, name, splices_, edits_);
  }
}

/// Writes the list of edits. Call it last.
void Mcp::finish_body() {
  const Tape& tape = document_.tape();
  if (shape_.kind == Shape::Kind::result && !tape.find(shape_.body, "content")) {
    std::string items;
    for (const std::string& block : tail_blocks()) items += (items.empty() ? "" : ",") + block;
    if (!items.empty()) {
      const uint32_t end = tape[shape_.body].end - 1;
      splices_.push_back({end, end, ",\"content\":[" + items + "]"});
      edits_.added("/content");
    }
  }
  if (const std::optional<size_t> meta = tape.find(shape_.body, "_meta")) {
    replace_in_meta(*meta);
  } else {
    edits_.added("/_meta");
  }
  splices_.push_back(list_in(tape, shape_.body));
}

// Records what the list replaces: the server's own list, or a `_meta` that is no object.
void Mcp::replace_in_meta(size_t meta) {
  const std::optional<size_t> refs = server_refs();
  if (!refs && document_.tape()[meta].type == Type::object) return;
  const Rewritten was = referrer_.alone(refs ? *refs : meta);
  edits_.replaced(refs ? pointer_to("/_meta", kRefsKey) : "/_meta", was.text, was.edits);
}

// The body is never empty, because something in it was diverted.
Splice Mcp::list_in(const Tape& tape, size_t body) const {
  const std::optional<size_t> meta = tape.find(body, "_meta");
  const std::optional<size_t> refs = meta ? tape.find(*meta, kRefsKey) : std::nullopt;
  const Node& place = tape[refs ? *refs : meta.value_or(body)];
  Splice splice{place.begin, place.end, edits_.json()};
  if (refs) return splice;
  splice.with = Object().source(kRefsKey, splice.with).end();
  if (meta && place.type != Type::object) return splice;
  splice.begin = --splice.end;
  if (!meta) {
    splice.with.insert(0, ",\"_meta\":");
  } else {
    splice.with.pop_back();
    splice.with[0] = ',';
    if (tape.count(*meta) == 0) splice.with.erase(0, 1);
  }
  return splice;
}

}  // namespace sluice::layers
