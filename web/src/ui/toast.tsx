/** Short notices in a corner: what was done, or why it was refused and what to do. */

import { signal } from "@preact/signals";
import { type Body, type Commands, Refused } from "../api/client";
import { command, store } from "../live";
import { Icon } from "./icons";

type Notice = { id: number; text: string; hint: string; bad: boolean };
const notices = signal<readonly Notice[]>([]);
let last = 0;

function show(text: string, hint: string, bad: boolean): void {
  const id = ++last;
  notices.value = [...notices.peek().slice(-3), { id, text, hint, bad }];
  setTimeout(() => dismiss(id), bad ? 12_000 : 4_000);
}

const dismiss = (id: number) => (notices.value = notices.peek().filter((notice) => notice.id !== id));

export const tell = (text: string): void => show(text, "", false);

export function complain(error: unknown): void {
  if (error instanceof Refused) show(sentence(error.message), error.hint, true);
  else throw error;
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?…]$/.test(text) ? "" : ".");

const underWay = new Set<string>();

/**
 * Carry out a command and show the outcome; return whether it succeeded. The change itself arrives
 * as an event, as other people's changes do, and is shown before this returns. With an empty
 * `done`, success is not announced.
 */
export async function act<P extends Commands>(path: P, body: Body<P>, done: string): Promise<boolean> {
  if (store.past.peek() !== null) {
    show("You are viewing the past.", "go back to now to make changes", true);
    return false;
  }
  const asked = JSON.stringify([path, body]);
  if (underWay.has(asked)) return false; // pressed twice, meant once
  underWay.add(asked);
  try {
    await command(path, body);
  } catch (error) {
    complain(error);
    return false;
  } finally {
    underWay.delete(asked);
  }
  if (done) tell(done);
  return true;
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {notices.value.map((notice) => (
        <div
          key={notice.id}
          class={`toast ${notice.bad ? "tone-red" : "tone-green"}`}
          role={notice.bad ? "alert" : undefined}
        >
          <div class="grow">
            <div>{notice.text}</div>
            {notice.hint && <div class="small soft">{notice.hint}</div>}
          </div>
          <button type="button" class="button quiet" aria-label="Dismiss" onClick={() => dismiss(notice.id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}
