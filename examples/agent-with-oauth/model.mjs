/**
 * A script that plays the model. For a real one see the model of the multi-tool agent.
 * @module
 */
import { OpenAiClient, createScriptedModel } from "mcp-sluice/planner";

/** Asks for the day and the calendar at once, then says what it was told. */
export function model() {
  const fetch = createScriptedModel(({ messages }) => {
    const [day, events] = messages.filter(({ role }) => role === "tool").map(({ content }) => JSON.parse(content));
    if (day === undefined) {
      return {
        calls: [
          { name: "clock", args: {} },
          { name: "calendar_events", args: {} },
        ],
      };
    }
    if (!Array.isArray(events)) return { text: `It is ${day}. I may not see your calendar: ${events.content}` };
    return { text: `It is ${day}, and you have ${events.join(" and ")}.` };
  });
  return new OpenAiClient({ model: "scripted", baseUrl: "http://model.example/v1", fetch });
}
