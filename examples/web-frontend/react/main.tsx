/**
 * Puts the chat on the page.
 * @module
 */
// The elements, which are defined by this.
import "mcp-sluice/ui/react";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Agent } from "./agent.js";
import { Chat } from "./chat.js";

const app = document.querySelector("#app");
if (app === null) throw new Error("The page has no #app.");
const starting = Agent.started();
createRoot(app).render(
  <StrictMode>
    <Chat starting={starting} />
  </StrictMode>,
);
