#include "restore/pointers.h"

namespace sluice::restoring {

namespace {

constexpr int kLast = -1;

/// Reads one token: `~1` is `/`, `~0` is `~`, a closing `~d<n>` the place among duplicates.
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
    if (escaped != 'd' || digits.empty() || digits.size() > 8) return false;
    duplicate = 0;
    for (const char c : digits) {
      if (c < '0' || c > '9') return false;
      duplicate = duplicate * 10 + (c - '0');
    }
    return true;
  }
  return true;
}

}  // namespace

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

}  // namespace sluice::restoring
