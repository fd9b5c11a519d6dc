/**
 * The chat: questions, what was called for them, what came of it, and a preview of files.
 * @module
 */
import type { ArtifactBytes, ShownArtifact } from "mcp-sluice/ui/react";
import { type FormEvent, type JSX, type RefObject, useEffect, useMemo, useReducer, useRef, useState } from "react";
import type { Agent } from "./agent.js";
import { Consent } from "./consent.js";
import { changed, type Turn } from "./turns.js";

const EXAMPLES = ["What do I have to do today?", "How did we sell, and what was it?"];

/** The whole page. */
export function Chat({ starting }: { readonly starting: Promise<Agent> }): JSX.Element {
  const [turns, change] = useReducer(changed, []);
  const [agent, setAgent] = useState<Agent>();
  const [shown, setShown] = useState<ShownArtifact>();
  const field = useRef<HTMLInputElement>(null);
  const last = turns.at(-1);
  const waits = last?.signIns.find(({ isOver }) => !isOver);
  const isBusy = last?.isOver === false && waits === undefined;

  useEffect(() => void starting.then(setAgent, () => undefined), [starting]);

  async function ask(question: string): Promise<void> {
    // Whoever asks something else does not want to wait for the last answer.
    waits?.refuse();
    field.current?.focus();
    const id = turns.length;
    change({ kind: "asked", id, question });
    try {
      const started = await starting;
      await started.ask(question, {
        onEvent: (event) => change({ kind: "event", id, event }),
        onSignIn: (signIn) => change({ kind: "sign_in", id, signIn }),
      });
      change({ kind: "ended", id });
    } catch (error) {
      change({ kind: "ended", id, problem: error instanceof Error ? error.message : "It failed." });
    }
  }

  function submitted(event: FormEvent): void {
    event.preventDefault();
    const input = field.current;
    if (input === null || isBusy) return;
    void ask(input.value);
    input.value = "";
  }

  return (
    <main>
      <h1>A chat that asks first</h1>
      <div id="log" role="log" aria-label="Conversation">
        {turns.length === 0 && <p className="soft">Ask about your day or the shop.</p>}
        {turns.map((turn) => (
          <Answered key={turn.id} {...{ turn, agent, field }} onShow={setShown} onAsk={(text) => void ask(text)} />
        ))}
      </div>
      {turns.length === 0 && (
        <div className="actions">
          {EXAMPLES.map((question) => (
            <button key={question} onClick={() => void ask(question)}>
              {question}
            </button>
          ))}
        </div>
      )}
      <form id="form" onSubmit={submitted}>
        <label htmlFor="question">Question</label>
        <input id="question" ref={field} required autoComplete="off" />
        <button className="primary" disabled={isBusy}>
          Ask
        </button>
      </form>
      {shown && <Preview artifact={shown} agent={agent} onClose={() => setShown(undefined)} />}
    </main>
  );
}

interface AnsweredProps {
  readonly turn: Turn;
  readonly agent: Agent | undefined;
  /** Where questions are written. */
  readonly field: RefObject<HTMLInputElement | null>;
  readonly onShow: (artifact: ShownArtifact) => void;
  readonly onAsk: (question: string) => void;
}

function Answered({ turn, agent, field, onShow, onAsk }: AnsweredProps): JSX.Element {
  const { question, calls, artifacts, signIns, text, isOver } = turn;
  return (
    <article className="turn" aria-label={question} aria-busy={!isOver}>
      <p className="question">{question}</p>
      {signIns.map((signIn, at) => (
        <Consent key={at} signIn={signIn} next={field} onAgain={() => onAsk(question)} />
      ))}
      {calls.length > 0 && <p className="calls">{calls.join(" ")}</p>}
      {artifacts.map((artifact) => (
        <Card key={artifact.id} artifact={artifact} agent={agent} onShow={onShow} />
      ))}
      {text !== "" && <p className="answer">{text}</p>}
    </article>
  );
}

interface ShownProps {
  readonly artifact: ShownArtifact;
  readonly agent: Agent | undefined;
}

function Card({ artifact, agent, onShow }: ShownProps & Pick<AnsweredProps, "onShow">): JSX.Element {
  const bytes = useBytes({ artifact, agent });
  return <sluice-artifact artifact={artifact} bytes={bytes} onsluice-preview={({ detail }) => onShow(detail)} />;
}

function Preview({ artifact, agent, onClose }: ShownProps & { readonly onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const bytes = useBytes({ artifact, agent });
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-label="Preview" onClose={onClose}>
      <form method="dialog">
        <button>Close</button>
      </form>
      <sluice-viewer artifact={artifact} bytes={bytes} />
    </dialog>
  );
}

/** The same object each time: an element that is given another one reads anew. */
function useBytes({ artifact, agent }: ShownProps): ArtifactBytes | undefined {
  return useMemo(() => agent?.bytesOf(artifact), [agent, artifact]);
}
