/**
 * Which model is asked.
 * @module
 */
import { OpenAiClient, scriptedModel } from "mcp-sluice/planner";

/** One of Ollama's where the address names it, such as `?model=qwen3`; else a script, so that this runs without a network. */
export function chooseModel() {
  const model = new URLSearchParams(location.search).get("model");
  if (model !== null) return new OpenAiClient({ model, baseUrl: "http://localhost:11434/v1" });
  const fetch = scriptedModel(({ last }) => {
    if (last.role === "tool") return { text: "We sold something every day: most of it chairs, and lamps." };
    return {
      calls: [
        { name: "shop_orders", args: {} },
        { name: "shop_chart", args: {} },
      ],
    };
  });
  return new OpenAiClient({ model: "scripted", baseUrl: "http://model.example/v1", fetch });
}
