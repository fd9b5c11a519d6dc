// What the mcp dialect adds behind what was there: notes and the list of edits.
#include <algorithm>

#include "layers/json_string.h"
#include "layers/mcp.h"

namespace sluice::layers {

namespace {

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

bool Mcp::has_news() const {
  return !shown_.empty() || !beside_.empty() || !referrer_.referred().empty();
}

std::string Mcp::note_text() const {
  std::vector<uint32_t> listed;
  for (const std::vector<uint32_t>* list : {&shown_, &beside_, &referrer_.referred()}) {
    for (const uint32_t segment : *list) add_once(listed, segment, ledger_);
  }
  return notes_.list(listed, shown_);
}

void Mcp::finish_list(const std::string& at) {
  const size_t list = *shape_.list;
  const bool entries = shape_.kind == Shape::Kind::contents;
  if (const std::optional<uint32_t> segment = document_.whole(list)) {
    std::string items = entries ? note_entry(list, *segment) : note_as_block(notes_.note(*segment));
    if (!entries && has_news()) items += "," + note_as_block(note_text());
    return replace(list, at, *segment, "[" + items + "]");
  }
  if (entries || !has_news()) return;
  const size_t count = document_.tape().count(list);
  const uint32_t end = document_.tape()[list].end - 1;
  splices_.push_back({end, end, (count > 0 ? "," : "") + note_as_block(note_text())});
  edits_.added(pointer_to(at, count));
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
  std::string members;
  if (shape_.kind == Shape::Kind::result && has_news() &&
      !document_.tape().find(shape_.body, "content")) {
    members = "\"content\":[" + note_as_block(note_text()) + "]";
    edits_.added("/content");
  }
  const std::optional<size_t> meta = document_.tape().find(shape_.body, "_meta");
  if (!meta) {
    edits_.added("/_meta");
    append_key(members, "_meta");
    members += "{\"sluice/refs\":" + edits_.json() + "}";
  } else {
    finish_meta();
  }
  if (members.empty()) return;
  const uint32_t end = document_.tape()[shape_.body].end - 1;
  const bool first = document_.tape().count(shape_.body) == 0;
  splices_.push_back({end, end, (first ? "" : ",") + members});
}

void Mcp::finish_meta() {
  const size_t meta = *document_.tape().find(shape_.body, "_meta");
  const Node& node = document_.tape()[meta];
  if (node.type != Type::object) {
    const Rewritten was = referrer_.alone(meta);
    edits_.replaced("/_meta", was.text, was.edits);
    splices_.push_back({node.begin, node.end, "{\"sluice/refs\":" + edits_.json() + "}"});
  } else if (const std::optional<size_t> refs = server_refs()) {
    const Rewritten was = referrer_.alone(*refs);
    edits_.replaced(pointer_to("/_meta", kRefsKey), was.text, was.edits);
    const Node& place = document_.tape()[*refs];
    splices_.push_back({place.begin, place.end, edits_.json()});
  } else {
    const bool first = document_.tape().count(meta) == 0;
    const uint32_t end = node.end - 1;
    splices_.push_back(
        {end, end, (first ? "" : ",") + std::string("\"sluice/refs\":") + edits_.json()});
  }
}

}  // namespace sluice::layers
