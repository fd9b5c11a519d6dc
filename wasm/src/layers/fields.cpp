#include "layers/fields.h"

#include <string>

namespace sluice::layers {

namespace {

/// Brackets are another way to write a dot; a leading `$` names the base.
std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> steps(1);
  for (const char c : path) {
    if (c == ']') continue;
    if (c == '.' || c == '[') {
      if (!steps.back().empty()) steps.emplace_back();
    } else {
      steps.back() += c;
    }
  }
  if (steps.back().empty()) steps.pop_back();
  if (!steps.empty() && steps.front() == "$") steps.erase(steps.begin());
  return steps;
}

/// The element a step names; nothing unless it is a plain decimal index in range.
std::optional<size_t> element(const Document& document, size_t array, std::string_view step) {
  if (step.empty() || step.size() > 9) return std::nullopt;
  size_t index = 0;
  for (const char c : step) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<size_t>(c - '0');
  }
  const Tape& tape = document.tape();
  size_t at = array + 1;
  for (; index > 0 && at < tape[array].next; --index) at = tape[at].next;
  if (at >= tape[array].next) return std::nullopt;
  return at;
}

class Search {
 public:
  Search(const Document& document, std::vector<std::string> steps)
      : document_(document), steps_(std::move(steps)) {}

  void from(size_t node, size_t parent, size_t step) {
    if (places_.size() >= kMaxPlaces) return;
    const Type type = document_.tape()[node].type;
    if (step == steps_.size()) {
      take(node, parent);
    } else if (steps_[step] == "*") {
      for (const size_t child : document_.children(node)) from(child, node, step + 1);
    } else if (type == Type::object) {
      const std::optional<size_t> value = document_.tape().find(node, steps_[step]);
      if (value) from(*value, node, step + 1);
    } else if (type == Type::array) {
      const std::optional<size_t> value = element(document_, node, steps_[step]);
      if (value) from(*value, node, step + 1);
    }
  }

  std::vector<Place> places() { return std::move(places_); }

 private:
  void take(size_t node, size_t parent) {
    // As Node writes a Buffer in JSON: `{"type":"Buffer","data":[…]}`.
    if (document_.is_block(node, "Buffer"))
      node = document_.tape().find(node, "data").value_or(node);
    const Type type = document_.tape()[node].type;
    if (type == Type::string || type == Type::array) places_.push_back({node, parent});
  }

  const Document& document_;
  std::vector<std::string> steps_;
  std::vector<Place> places_;
};

}  // namespace

std::vector<Place> find_places(const Document& document, size_t base, std::string_view path) {
  std::vector<std::string> steps = split(path);
  if (steps.empty()) return {};
  const Tape& tape = document.tape();
  Search search(document, std::move(steps));
  search.from(base, base, 0);
  if (const auto result = tape.find(base, "result")) search.from(*result, base, 0);
  if (const auto structured = tape.find(base, "structuredContent")) {
    search.from(*structured, base, 0);
    if (const auto result = tape.find(*structured, "result")) search.from(*result, *structured, 0);
  }
  return search.places();
}

}  // namespace sluice::layers
