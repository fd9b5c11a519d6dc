/**
 * The card that asks for a person's consent, and what becomes of it.
 * @module
 */
import { type JSX, type RefObject, useCallback, useEffect, useId, useRef, useSyncExternalStore } from "react";
import type { SignIn, SignInState } from "./sign-in.js";

/** What scopes allow, in words. Those of an app's own providers stand here. */
const ALLOWED: Readonly<Record<string, string>> = {
  openid: "know that it is you",
  "calendar.read": "read what is in your calendar",
};

interface Props {
  readonly signIn: SignIn;
  /** Asks the same question anew. */
  readonly onAgain: () => void;
  /** Where the keyboard goes on when the card has nothing to press any more. */
  readonly next: RefObject<HTMLElement | null>;
}

/** Asks, waits, and ends as one sentence. */
export function Consent({ signIn, onAgain, next }: Props): JSX.Element {
  const state = useSignIn(signIn);
  const card = useRef<HTMLElement>(null);
  const wasPressed = useRef(false);
  const title = useId();
  const { displayName, scopes, tool } = signIn.question;
  const press = (act: () => unknown) => (): void => {
    wasPressed.current = true;
    void act();
  };
  const begin = press(() => signIn.begin());
  const refuse = press(() => signIn.refuse());

  // The button that was pressed is gone: the keyboard goes on with the next one.
  useEffect(() => {
    if (wasPressed.current) (card.current?.querySelector("button") ?? next.current)?.focus();
  }, [state, next]);

  if (state !== "asking") {
    const [sentence, action] = OUTCOMES[state](displayName);
    const act = { again: press(onAgain), begin, refuse };
    return (
      <section ref={card} className={`consent said ${state}`} aria-label={`Access to ${displayName}`}>
        <p role="status">{sentence}</p>
        {action && <button onClick={act[action.does]}>{action.label}</button>}
      </section>
    );
  }
  return (
    <section ref={card} className="consent" aria-labelledby={title}>
      <h2 id={title}>May this chat use {displayName}?</h2>
      <p>
        It wants to answer your question with <code>{tool}</code>, and waits for you. If you agree, it may:
      </p>
      <ul>
        {scopes.map((scope) => (
          <li key={scope}>{ALLOWED[scope] ?? <code>{scope}</code>}</li>
        ))}
      </ul>
      <p className="soft">You sign in at {displayName}. The chat never sees your password.</p>
      <div className="actions">
        <button className="primary" onClick={begin}>
          Continue at {displayName}
        </button>
        <button onClick={refuse}>Not now</button>
      </div>
    </section>
  );
}

interface Action {
  readonly label: string;
  readonly does: "again" | "begin" | "refuse";
}

/** One sentence each, and the one thing to do about it. */
const OUTCOMES: Readonly<Record<Exclude<SignInState, "asking">, (name: string) => readonly [string, Action?]>> = {
  waiting: (name) => [`${name} asks you in the other window.`, { label: "Cancel", does: "refuse" }],
  closed: () => ["The window was closed before you agreed.", { label: "Open it again", does: "begin" }],
  blocked: () => ["Your browser opened no window.", { label: "Try again", does: "begin" }],
  failed: (name) => [`The sign-in at ${name} failed.`, { label: "Try again", does: "begin" }],
  refused: (name) => [`The chat got no access to ${name}.`, { label: "Ask me again", does: "again" }],
  agreed: (name) => [`You gave the chat access to ${name}.`],
};

function useSignIn(signIn: SignIn): SignInState {
  const subscribe = useCallback(
    (onChange: () => void) => {
      signIn.addEventListener("change", onChange);
      return () => signIn.removeEventListener("change", onChange);
    },
    [signIn],
  );
  return useSyncExternalStore(subscribe, () => signIn.state);
}
