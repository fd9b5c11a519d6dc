// What the mcp dialect adds behind what was there: notes and the list of edits.
#include <algorithm>

#include "json/object.h"
#include "layers/mcp.h"

namespace sluice::layers {

namespace {

/// Texts that were not stored and whose beginnings one result shows behind its blocks.
constexpr size_t kMaxBeginnings = 8;

void add_once(std::vector<uint32_t>& list, uint32_t segment, const Ledger& ledger) {
  const std::string id = ledger.id(segment);
  const bool known =
      std::any_of(list.begin(), list.end(), [&](uint32_t other) { return ledger.id(other) == id; });
  if (!known) list.push_back(segment);
}

}  // namespace

// Clients of revisions before 2026-07-28 want an object here, so an object stays one.
void Mcp::rewrite_structured(const std::string& at) {
  const size_t node = *shape_.structured;
  const std::optional<uint32_t> segment = document_.whole(node);
  const bool collapsed = segment && ledger_.segment(*segment).kind == SegmentKind::json;
  if (!collapsed || was_array(ledger_.segment(*segment))) {
    return referrer_.refer_member(node, at, splices_, edits_);
  }
  const Rewritten was = referrer_.alone(node);
  edits_.replaced(at, was.text, was.edits);
  splices_.push_back({document_.tape()[node].begin, document_.tape()[node].end,
                      "{\"artifact\":" + was.text + "}"});
}

// --- notes ------------------------------------------------------------------------------------

// What this result refers to and no block tells of yet.
std::vector<uint32_t> Mcp::news() const {
  std::vector<uint32_t> told = noted_;
  for (const std::vector<uint32_t>* list : {&shown_, &beside_, &referrer_.referred()}) {
    for (const uint32_t segment : *list) add_once(told, segment, ledger_);
  }
  told.erase(told.begin(), told.begin() + static_cast<ptrdiff_t>(noted_.size()));
  return told;
}

// One block for all of them, and one for each text that is nowhere but here.
std::vector<std::string> Mcp::tail_blocks() const {
  std::vector<uint32_t> listed;
  std::vector<std::string> blocks;
  for (const uint32_t segment : news()) {
    if (!notes_.beginning(segment).empty() && blocks.size() < kMaxBeginnings) {
      blocks.push_back(note_as_block(notes_.note(segment)));
    } else {
      listed.push_back(segment);
    }
  }
  if (!listed.empty()) {
    blocks.insert(blocks.begin(), note_as_block(notes_.list(listed, shown_)));
  }
  return blocks;
}

void Mcp::finish_list(const std::string& at) {
  const size_t list = *shape_.list;
  const bool entries = shape_.kind == Shape::Kind::contents;
  if (const std::optional<uint32_t> segment = document_.whole(list)) {
    std::string items = entries ? note_entry(list, *segment) : note_as_block(notes_.note(*segment));
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

/// Writes the list where it belongs; nothing may be added to it afterwards.
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

// What the list takes the place of: the server's own, or a `_meta` that can hold none.
void Mcp::replace_in_meta(size_t meta) {
  const std::optional<size_t> refs = server_refs();
  if (!refs && document_.tape()[meta].type == Type::object) return;
  const Rewritten was = referrer_.alone(refs ? *refs : meta);
  edits_.replaced(refs ? pointer_to("/_meta", kRefsKey) : "/_meta", was.text, was.edits);
}

// A body is never empty here: something in it was diverted.
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
