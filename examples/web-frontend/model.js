/**
 * Which model is asked.
 * @module
 */
import { OpenAiClient, createScriptedModel } from "mcp-sluice/planner";

/** One of Ollama's where the address names it, such as `?model=qwen3`; else a script, so that this runs without a network. */
export function chooseModel() {
  const model = new URLSearchParams(location.search).get("model");
  if (model !== null) return new OpenAiClient({ model, baseUrl: "http://localhost:11434/v1" });
  return new OpenAiClient({
    model: "scripted",
    baseUrl: "http://model.example/v1",
    fetch: createScriptedModel(script),
  });
}

/** @typedef {Parameters<typeof createScriptedModel>[0]} Script */

/**
 * Asks the calendar where there is one and the question is about it, and else the shop.
 *
 * @type {Script}
 */
function script({ messages, last, tools }) {
  const question = messages.findLast(({ role }) => role === "user")?.content ?? "";
  if (tools.includes("calendar_events") && /calendar|today/i.test(question)) return calendar(messages);
  if (last.role === "tool") return { text: "We sold something every day: most of it chairs, and lamps." };
  return {
    calls: [
      { name: "shop_orders", args: {} },
      { name: "shop_chart", args: {} },
    ],
  };
}

/**
 * Today first, then the year: the person is asked once, and not again where they decline.
 *
 * @param {Parameters<Script>[0]["messages"]} messages
 * @returns {ReturnType<Script>}
 */
function calendar(messages) {
  const [today, year] = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
  if (today === undefined) return { calls: [{ name: "calendar_events", args: {} }] };
  const events = JSON.parse(today);
  if (!Array.isArray(events))
    return { text: "I cannot see your calendar, so I do not know what you have to do today." };
  if (year === undefined) return { calls: [{ name: "calendar_year", args: {} }] };
  return { text: `Today you have ${events.join(" and ")}. The rest of the year is in the file.` };
}
