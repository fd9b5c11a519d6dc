/**
 * Which model is asked.
 * @module
 */
import { OpenAiClient, createScriptedModel } from "mcp-sluice/planner";

/** A model behind OpenAI's API where the environment names one; else a script, so that this runs without a key or a network. */
export function chooseModel() {
  const { OPENAI_MODEL: model, OPENAI_BASE_URL: baseUrl, OPENAI_API_KEY: apiKey } = process.env;
  if (model === undefined) return { name: "a script; set OPENAI_MODEL for a real one", llm: scripted() };
  const options = { model, ...(baseUrl !== undefined && { baseUrl }), ...(apiKey !== undefined && { apiKey }) };
  return { name: model, llm: new OpenAiClient(options) };
}

/** Plays a model that was asked for the warmest day. The client in front of it is the real one. */
function scripted() {
  const fetch = createScriptedModel(({ messages }) => {
    const told = messages.filter(({ role }) => role === "tool").map(({ content }) => content);
    const [readings = "", , warmest] = told;
    if (told.length === 0) {
      return {
        calls: [
          { name: "archive_readings", args: { city: "Oslo" } },
          { name: "camera_photo", args: { city: "Oslo" } },
        ],
      };
    }
    if (warmest === undefined) {
      const [id] = /archive_[0-9a-f]+/.exec(readings) ?? [];
      return { calls: [{ name: "warmest_day", args: { readings: `artifact://${id}` } }] };
    }
    const { day, celsius } = JSON.parse(warmest);
    return { text: `The warmest day was ${day}, with ${celsius} °C. The photo is stored, too.` };
  });
  return new OpenAiClient({ model: "scripted", baseUrl: "http://model.example/v1", fetch });
}
