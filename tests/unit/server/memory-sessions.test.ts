import { describe } from "vitest";
import { MemoryArtifactSessions } from "../../../web/src/server/memory-sessions.js";
import { sessionsContract } from "./sessions-contract.js";

describe("sessions in memory", () => {
  sessionsContract(() => new MemoryArtifactSessions());
});
