#include "restore/cutter.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "json/spelling.h"
#include "layers/result/references.h"
#include "sluice/tape.h"
#include "text/ascii.h"

namespace sluice::restoring {

// --- entries -------------------------------------------------------------------------------------

using layers::Hole;

namespace {

bool read_string(const Tape& tape, size_t object, std::string_view key, std::string& out) {
  const std::optional<size_t> value = tape.find(object, key);
  if (!value) return true;
  if (tape[*value].type != Type::string) return false;
  out = tape.string(*value);
  return true;
}

bool read_flag(const Tape& tape, size_t object, std::string_view key) {
  const std::optional<size_t> value = tape.find(object, key);
  return value && tape.source(*value) == "true";
}

bool read_count(const Tape& tape, size_t object, size_t& out) {
  const std::optional<size_t> value = tape.find(object, "n");
  if (!value) return true;
  const auto count =
      tape[*value].type == Type::number ? decimal(tape.source(*value), 9) : std::nullopt;
  if (count) out = static_cast<size_t>(*count);
  return count.has_value();
}

bool read_entry(const Tape& tape, size_t node, Entry& entry) {
  if (tape[node].type != Type::object || !tape.find(node, "at")) return false;
  std::string kind;
  if (!read_string(tape, node, "at", entry.at) || !read_string(tape, node, "uri", entry.uri) ||
      !read_string(tape, node, "kind", kind) || !read_string(tape, node, "wrap", entry.wrap) ||
      !read_string(tape, node, "form", entry.form) ||
      !read_string(tape, node, "from", entry.from) || !read_count(tape, node, entry.n)) {
    return false;
  }
  const std::optional<Hole> hole = kind_named(kind);
  if (!hole) return false;
  entry.kind = *hole;
  entry.key = read_flag(tape, node, "key");
  entry.added = read_flag(tape, node, "added");
  entry.was = tape.find(node, "was");
  entry.refs = tape.find(node, "refs");
  // An entry has exactly one of them.
  const int says = (entry.uri.empty() ? 0 : 1) + (entry.added ? 1 : 0) + (entry.was ? 1 : 0);
  return says == 1;
}

}  // namespace

std::optional<Hole> kind_named(std::string_view name) {
  const auto* const found = std::find(layers::kHoleNames.begin(), layers::kHoleNames.end(), name);
  if (found == layers::kHoleNames.end()) return std::nullopt;
  return static_cast<Hole>(found - layers::kHoleNames.begin());
}

Status misfit(std::string_view path, std::string_view message) {
  return {Code::restore_refs, 0, 0, std::string(path.substr(0, 200)),
          std::string(message) +
              " Pass the result to restore unchanged, exactly as Sluice returned it."};
}

Status read_entries(const Tape& tape, size_t array, std::vector<Entry>& entries) {
  if (tape[array].type != Type::array) {
    return misfit("", "The list of references (_meta[\"sluice/refs\"]) is not an array.");
  }
  if (tape.count(array) > kMaxEntries) return misfit("", "The list of references is too long.");
  for (size_t at = array + 1; at < tape[array].next; at = tape[at].next) {
    Entry& entry = entries.emplace_back();
    if (!read_entry(tape, at, entry)) {
      return misfit(entry.at, "An entry of the list of references is malformed.");
    }
  }
  return {};
}

std::optional<Piece> piece_for(std::string_view uri, Hole kind, std::string_view form) {
  std::optional<layers::Reference> reference = layers::read_reference(uri);
  if (!reference) return std::nullopt;
  Piece piece;
  piece.id = std::move(reference->id);
  piece.form = std::move(reference->form);
  piece.raw = kind == Hole::bytes;
  piece.kind = Piece::Kind::bytes;
  if (kind == Hole::text) piece.kind = Piece::Kind::text;
  if (kind == Hole::json) piece.kind = Piece::Kind::json;
  if (form.empty()) return piece;
  if (piece.kind == Piece::Kind::bytes) {
    std::optional<Form> named = parse_form(form, reference->mime_type);
    if (!named) return std::nullopt;
    piece.form = std::move(*named);
  } else {
    if (!parse_spellings(form)) return std::nullopt;
    piece.spelling = form;
  }
  return piece;
}

void append_literal(std::vector<Piece>& pieces, std::string_view text) {
  if (text.empty()) return;
  if (pieces.empty() || pieces.back().kind != Piece::Kind::literal) pieces.emplace_back();
  pieces.back().literal += text;
}

// --- many JSON pointers followed in one walk -------------------------------------------------

namespace {

/// A tree of JSON pointers (RFC 6901) with `~d<n>` for the n-th of several members of one name;
/// without it the last is meant. Building and walking take linear time in the pointers and the
/// document.
class Pointers {
 public:
  /// Adds a pointer. `walk` reports it as `tag`. False if it is malformed.
  bool add(std::string_view pointer, uint32_t tag);

  /// A value that pointers name.
  struct Match {
    size_t node = 0;
    size_t parent = 0;  ///< the container; the node itself at the root
    const std::vector<uint32_t>* tags = nullptr;
  };

  /// The values below `root` that pointers name, outer ones before inner ones.
  std::vector<Match> walk(const Tape& tape, size_t root) const;

 private:
  struct Step {
    std::map<std::pair<std::string, int>, size_t> next;
    std::vector<uint32_t> tags;
  };
  struct Visit {
    size_t step = 0;
    size_t node = 0;
    size_t parent = 0;
  };

  void enter_array(const Tape& tape, const Visit& visit, std::vector<Visit>& open) const;
  void enter_object(const Tape& tape, const Visit& visit, std::vector<Visit>& open) const;

  std::vector<Step> steps_ = std::vector<Step>(1);
};

constexpr int kLast = -1;

/// Reads one token: `~1` is `/`, `~0` is `~`, a final `~d<n>` is the position among duplicates.
bool read_token(std::string_view token, std::string& name, int& duplicate) {
  for (size_t at = 0; at < token.size(); ++at) {
    if (token[at] != '~') {
      name += token[at];
      continue;
    }
    const char escaped = at + 1 < token.size() ? token[at + 1] : '\0';
    if (escaped == '0' || escaped == '1') {
      name += escaped == '0' ? '~' : '/';
      ++at;
      continue;
    }
    const std::string_view digits = token.substr(std::min(at + 2, token.size()));
    const auto number = decimal(digits, 8);
    if (escaped != 'd' || !number) return false;
    duplicate = static_cast<int>(*number);
    return true;
  }
  return true;
}

bool Pointers::add(std::string_view pointer, uint32_t tag) {
  size_t step = 0;
  while (!pointer.empty()) {
    if (pointer.front() != '/') return false;
    pointer.remove_prefix(1);
    const size_t end = std::min(pointer.find('/'), pointer.size());
    std::string name;
    int duplicate = kLast;
    if (!read_token(pointer.substr(0, end), name, duplicate)) return false;
    pointer.remove_prefix(end);
    const auto [next, fresh] =
        steps_[step].next.try_emplace({std::move(name), duplicate}, steps_.size());
    step = next->second;
    if (fresh) steps_.emplace_back();
  }
  steps_[step].tags.push_back(tag);
  return true;
}

std::vector<Pointers::Match> Pointers::walk(const Tape& tape, size_t root) const {
  std::vector<Match> matches;
  std::vector<Visit> open = {{0, root, root}};
  while (!open.empty()) {
    const Visit visit = open.back();
    open.pop_back();
    const Step& step = steps_[visit.step];
    if (!step.tags.empty()) matches.push_back({visit.node, visit.parent, &step.tags});
    if (step.next.empty()) continue;
    if (tape[visit.node].type == Type::object) enter_object(tape, visit, open);
    if (tape[visit.node].type == Type::array) enter_array(tape, visit, open);
  }
  return matches;
}

void Pointers::enter_array(const Tape& tape, const Visit& visit, std::vector<Visit>& open) const {
  const auto& next = steps_[visit.step].next;
  size_t index = 0;
  for (size_t at = visit.node + 1; at < tape[visit.node].next; at = tape[at].next) {
    const auto found = next.find({std::to_string(index++), kLast});
    if (found != next.end()) open.push_back({found->second, at, visit.node});
  }
}

void Pointers::enter_object(const Tape& tape, const Visit& visit, std::vector<Visit>& open) const {
  const auto& next = steps_[visit.step].next;
  struct Seen {
    int count = 0;
    size_t last = 0;
  };
  std::map<std::string, Seen> seen;
  for (size_t key = visit.node + 1; key < tape[visit.node].next; key = tape[key + 1].next) {
    std::string name = tape.string(key);
    const auto first = next.lower_bound({name, kLast});
    if (first == next.end() || first->first.first != name) continue;
    Seen& so_far = seen[name];
    so_far.last = key + 1;
    const auto found = next.find({std::move(name), so_far.count++});
    if (found != next.end()) open.push_back({found->second, key + 1, visit.node});
  }
  for (const auto& [name, so_far] : seen) {
    const auto found = next.find({name, kLast});
    if (found != next.end()) open.push_back({found->second, so_far.last, visit.node});
  }
}

}  // namespace

// --- the cutter ------------------------------------------------------------------------------

using layers::Hole;

Status Cutter::undo(const std::vector<Entry>& entries) {
  Pointers pointers;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (!pointers.add(entries[i].at, i)) return misfit(entries[i].at, "A pointer is malformed.");
  }
  std::vector<uint8_t> found(entries.size());
  for (const Pointers::Match& match : pointers.walk(tape_, root_)) {
    std::vector<const Entry*> in_key;
    std::vector<const Entry*> in_value;
    for (const size_t tag : *match.tags) {
      const Entry& entry = entries[tag];
      found[tag] = 1;
      Status status;
      if (entry.was) status = replace(match.node, entry);
      if (entry.added) remove(match.parent, match.node);
      if (entry.added && match.node == root_)
        return misfit(entry.at, "Restoring would leave nothing.");
      if (!entry.uri.empty()) (entry.key ? in_key : in_value).push_back(&entry);
      if (!status.ok()) return status;
    }
    const bool keyed = match.node != root_ && tape_[match.parent].type == Type::object;
    if (!in_key.empty() && !keyed) {
      return misfit(in_key.front()->at, "The result has no key at this path.");
    }
    Status status = fill(match.node, std::move(in_value));
    if (status.ok() && !in_key.empty()) status = fill(match.node - 1, std::move(in_key));
    if (!status.ok()) return status;
  }
  for (size_t i = 0; i < entries.size(); ++i)
    if (found[i] == 0) return misfit(entries[i].at, "The result has nothing at this path.");
  return {};
}

// --- references -------------------------------------------------------------------------------

Status Cutter::fill(size_t node, std::vector<const Entry*> entries) {
  if (entries.empty()) return {};
  if (tape_[node].type != Type::string) {
    return misfit(entries.front()->at, "A reference is expected here, but this is not a string.");
  }
  const Hole kind = entries.front()->kind;
  if (kind == Hole::json || (kind == Hole::bytes && entries.front()->wrap.empty())) {
    if (entries.size() != 1) return misfit(entries.front()->at, "One value has two references.");
    return fill_value(node, *entries.front());
  }
  std::vector<uint64_t> numbers;
  numbers.reserve(entries.size());
  for (const Entry* entry : entries) numbers.push_back(entry->n);
  std::vector<const Entry*> sorted;
  for (const uint32_t index : order_of(numbers)) sorted.push_back(entries[index]);
  return fill_string(node, sorted);
}

Status Cutter::fill_value(size_t node, const Entry& entry) {
  std::optional<Piece> piece = piece_for(entry.uri, entry.kind, entry.form);
  if (!piece || !tape_.is_string(node, entry.uri)) {
    return misfit(entry.at, "The reference in the list differs from the one in the result.");
  }
  cuts_.push_back({tape_[node].begin, tape_[node].end, {std::move(*piece)}});
  return {};
}

Status Cutter::fill_string(size_t node, const std::vector<const Entry*>& entries) {
  const std::string value = tape_.string(node);
  Cut cut{tape_[node].begin + 1, tape_[node].end - 1, {}};
  const auto append_text = [&](size_t begin, size_t end) {
    std::string escaped;
    append_escaped(escaped, std::string_view(value).substr(begin, end - begin));
    append_literal(cut.pieces, escaped);
  };
  size_t copied = 0;
  size_t n = 0;
  size_t place = value.find(kScheme);
  for (const Entry* entry : entries) {
    for (; n < entry->n && place != std::string::npos; ++n) {
      place = value.find(kScheme, place + kScheme.size());
    }
    std::optional<Piece> piece = entry->from.empty()
                                     ? piece_for(entry->uri, entry->kind, entry->form)
                                     : piece_for(entry->from, entry->kind, {});
    const std::string expected = entry->wrap + entry->uri + entry->wrap;
    const bool fits = n == entry->n && place != std::string::npos && piece &&
                      place >= copied + entry->wrap.size() &&
                      value.compare(place - entry->wrap.size(), expected.size(), expected) == 0;
    if (!fits)
      return misfit(entry->at, "The reference in the list differs from the one in the result.");
    append_text(copied, place - entry->wrap.size());
    cut.pieces.push_back(std::move(*piece));
    copied = place - entry->wrap.size() + expected.size();
  }
  append_text(copied, value.size());
  cuts_.push_back(std::move(cut));
  return {};
}

// --- what was replaced or added ---------------------------------------------------------------

Status Cutter::replace(size_t node, const Entry& entry) {
  if (depth_ >= kMaxNesting) return misfit(entry.at, "References are nested too deeply.");
  if (!replaced_.insert(node)) return misfit(entry.at, "One path has two values.");
  Tape was;
  Status status = Tape::parse(refs_.source(*entry.was), was);
  if (!status.ok()) return status;
  std::vector<Entry> entries;
  if (entry.refs) status = read_entries(refs_, *entry.refs, entries);
  if (!status.ok()) return status;
  Cutter inner(was, 0, refs_, depth_ + 1);
  status = inner.undo(entries);
  Cut cut{tape_[node].begin, tape_[node].end, {}};
  if (status.ok()) status = inner.finish(0, was.text().size(), cut.pieces);
  if (status.ok()) cuts_.push_back(std::move(cut));
  return status;
}

void Cutter::take_list_out() {
  const std::optional<size_t> meta = tape_.find(root_, "_meta");
  const std::optional<size_t> list = meta ? tape_.find(*meta, kRefsKey) : std::nullopt;
  if (!list || replaced_.has(root_) || replaced_.has(*meta) || replaced_.has(*list)) return;
  const bool added = removed_.has(*meta);
  // Whatever else we have written there goes with it.
  size_t others = 0;
  for (size_t key = *meta + 1; added && key < tape_[*meta].next; key = tape_[key + 1].next) {
    others += key + 1 == *list || removed_.has(key + 1) ? 0 : 1;
  }
  if (added && others == 0) return shrunk_.erase(*meta);
  // Somebody else has written into our `_meta` since. That stays.
  if (added) removed_.erase(*meta);
  remove(*meta, *list);
}

void Cutter::remove(size_t container, size_t value) {
  shrunk_.insert(container);
  removed_.insert(value);
}

// A value is removed with the comma before it, or after it if nothing that stays precedes it.
void Cutter::remove_members() {
  for (size_t container = root_; container < tape_[root_].next; ++container) {
    if (!shrunk_.has(container)) continue;
    const size_t key = tape_[container].type == Type::object ? 1 : 0;
    bool kept = false;
    uint32_t before = 0;
    for (size_t at = container + 1; at < tape_[container].next; at = tape_[at + key].next) {
      const size_t value = at + key;
      const uint32_t end = tape_[value].end;
      if (!removed_.has(value)) {
        kept = true;
      } else if (kept) {
        cuts_.push_back({before, end, {}});
      } else {
        const size_t next = tape_[value].next;
        const bool last = next >= tape_[container].next;
        cuts_.push_back({tape_[at].begin, last ? end : tape_[next].begin, {}});
      }
      before = end;
    }
  }
}

Status Cutter::finish(size_t begin, size_t end, std::vector<Piece>& pieces) {
  remove_members();
  std::vector<uint64_t> keys;
  for (const Cut& cut : cuts_) keys.push_back(uint64_t{cut.begin} << 32 | cut.end);
  size_t at = begin;
  for (const uint32_t index : order_of(keys)) {
    Cut& cut = cuts_[index];
    if (cut.begin < at)
      return misfit("", "Two entries of the list of references have the same path.");
    append_literal(pieces, tape_.text().substr(at, cut.begin - at));
    for (Piece& piece : cut.pieces) {
      if (piece.kind == Piece::Kind::literal) {
        append_literal(pieces, piece.literal);
      } else {
        pieces.push_back(std::move(piece));
      }
    }
    at = cut.end;
  }
  append_literal(pieces, tape_.text().substr(at, end - at));
  return {};
}

}  // namespace sluice::restoring
