/**
 * Turns of the chat as they are remembered.
 * @module
 */
import type { Problem } from "../../engine/messages.js";
import type { ChatCall, ChatTurn } from "../chat/turn.js";
import { isRunning } from "./database.js";

/** What stands for a key. */
const HIDDEN = "•••";

/** A turn without the key of the model's server, which that may repeat in an error. */
export function withoutKey(turn: ChatTurn, secret: string): ChatTurn {
  if (secret === "") return turn;
  const text = JSON.stringify(turn);
  const key = JSON.stringify(secret).slice(1, -1);
  return text.includes(key) ? (JSON.parse(text.replaceAll(key, HIDDEN)) as ChatTurn) : turn;
}

const LEFT: Problem = {
  code: "E_LEFT",
  message: "It was being answered when the page was left, which ended it: ask again.",
};

function isOpen({ state }: ChatCall): boolean {
  return state === "wanted" || state === "running" || state === "waiting";
}

/** A run at the page's server goes on there. */
const LEFT_AT_SERVER: Problem = {
  code: "E_LEFT",
  message: "The page was left before the answer came. The server goes on, and what it stores is listed in My Files.",
};

/** A turn that was being answered when the page was left, as it ended then. */
export function endedTurn(turn: ChatTurn): ChatTurn {
  if (!isRunning(turn)) return turn;
  return {
    ...turn,
    state: "failed",
    problem: turn.by === "served" ? LEFT_AT_SERVER : LEFT,
    steps: turn.steps.map((step) => ({
      ...step,
      calls: step.calls.map((call) => (isOpen(call) ? { ...call, state: "cancelled" } : call)),
    })),
  };
}
