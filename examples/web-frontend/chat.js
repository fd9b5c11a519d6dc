/**
 * A chat that runs a planner in the page: its artifacts are in IndexedDB, its tools those of an MCP server.
 * @module
 */
import { IndexedDbArtifactStore } from "mcp-sluice/browser";
import { ReactPlanner } from "mcp-sluice/planner";
import { ToolNode } from "mcp-sluice/tools";
import { SluiceArtifact, SluiceViewer } from "mcp-sluice/ui";
import { chooseModel } from "./model.js";
import { SERVER_URL, serverFetch } from "./server.js";

// Whose artifacts these are. Where several people use one browser, this is who is logged in.
const scope = { session_id: "chat" };
const store = new IndexedDbArtifactStore({ name: "chat" });

// A server elsewhere needs no `fetch`, but has to let this page in (CORS), and be named in connect-src of index.html.
const shop = new ToolNode({ name: "shop", transport: "mcp", connection: SERVER_URL }, { store, fetch: serverFetch });
const connecting = shop.connect({ scope });
const planner = new ReactPlanner({ catalog: [shop], llm: chooseModel(), artifactStore: store });

const log = element("#log", HTMLElement);
const form = element("#form", HTMLFormElement);
const button = element("#form button", HTMLButtonElement);
const field = element("#question", HTMLInputElement);
const viewer = element("sluice-viewer", SluiceViewer);

form.addEventListener("submit", (event) => {
  event.preventDefault();
  void ask(field.value);
});

log.addEventListener("sluice-preview", ({ target }) => {
  if (!(target instanceof SluiceArtifact)) return;
  viewer.artifact = target.artifact;
  viewer.bytes = target.bytes;
  viewer.hidden = false;
});

/**
 * Asks, and shows what happens as it happens.
 *
 * @param {string} question
 */
async function ask(question) {
  button.disabled = true;
  say("question").textContent = question;
  const calls = say("calls");
  const cards = log.appendChild(document.createElement("div"));
  const answer = say("answer");
  try {
    await connecting;
    await planner.run(question, { scope, onEvent });
  } catch (error) {
    answer.textContent = error instanceof Error ? error.message : "It failed.";
  } finally {
    button.disabled = false;
  }

  /** @param {import("mcp-sluice/planner").PlannerEvent} event */
  function onEvent(event) {
    if (event.kind === "text") answer.append(event.text);
    else if (event.kind === "text_discarded") answer.textContent = "";
    else if (event.kind === "tool_answered") {
      calls.append(`${event.tool} answered, and the model sees ${event.chars} characters of it. `);
    } else if (event.kind === "artifact_stored") {
      for (const artifact of event.artifacts) cards.append(cardOf(artifact));
    }
  }
}

/**
 * What was stored, to look at and to save. The model has the same reference.
 *
 * @param {import("mcp-sluice/ui").ShownArtifact} artifact
 */
function cardOf(artifact) {
  const card = new SluiceArtifact();
  card.artifact = artifact;
  card.bytes = { open: (range) => store.openReader(artifact.id, { scope, ...(range && { range }) }) };
  return card;
}

/** @param {string} className */
function say(className) {
  const paragraph = document.createElement("p");
  paragraph.className = className;
  return log.appendChild(paragraph);
}

/**
 * @template {Element} T
 * @param {string} selector
 * @param {{ new (): T }} type
 */
function element(selector, type) {
  const found = document.querySelector(selector);
  if (found instanceof type) return found;
  throw new Error(`The page has no ${selector}.`);
}
