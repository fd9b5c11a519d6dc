/**
 * The connections of a server, and the answers that each is to be given.
 * @module
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Requests that may wait on one connection for the answers before theirs: no browser sends two. */
const MOST = 16;

/** Knows what is under way on each connection. Node holds one for busy that was opened and never used. */
export class Connections {
  readonly #open = new Map<Socket, Set<ServerResponse>>();

  /** Notes a connection. */
  add(socket: Socket): void {
    const answers = new Set<ServerResponse>();
    this.#open.set(socket, answers);
    socket.once("close", () => {
      this.#open.delete(socket);
      for (const answer of answers) dropped(answer);
    });
  }

  /** Notes an answer until it is closed. False where the connection is over, or has just been ended: it asked for too much at once. */
  enter(socket: Socket, answer: ServerResponse): boolean {
    const answers = this.#open.get(socket);
    if (answers === undefined || socket.destroyed) return false;
    if (answers.size >= MOST) {
      socket.destroy();
      return false;
    }
    answers.add(answer);
    answer.once("close", () => answers.delete(answer));
    return true;
  }

  /** Ends those on which nothing is under way. */
  endIdle(): void {
    for (const [socket, answers] of this.#open) if (answers.size === 0) socket.destroy();
  }
}

/** Node tells only the answer whose turn it was that its connection is gone; those behind it would wait for ever. */
function dropped(answer: ServerResponse): void {
  if (answer.closed) return;
  answer.destroy();
  answer.emit("close");
}
