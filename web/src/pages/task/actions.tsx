/** What people do with a task, from a card, a key or the drawer; asks first where a word is needed. */

import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import type { TaskRow } from "../../api/rows";
import { Button, Dialog, Field } from "../../ui/parts";
import { act } from "../../ui/toast";

type Question = { task: string; move: "block" | "cancel" | "land" | "hand-off" };
const asking = signal<Question | null>(null);

const WORDS: Record<Question["move"], { title: string; text: string; label: string; button: string }> = {
  block: {
    title: "Block",
    text: "Nobody works on it until it is unblocked; a session on it ends.",
    label: "What does it wait for?",
    button: "Block it",
  },
  cancel: {
    title: "Cancel",
    text: "It is given up, and what needs it can never start.",
    label: "Why?",
    button: "Cancel the task",
  },
  land: {
    title: "Record as landed",
    text: "Its work is on the target branch already, merged by hand.",
    label: "The commit on the target branch",
    button: "It has landed",
  },
  "hand-off": {
    title: "Give back",
    text: "It is taken away from whoever works on it now.",
    label: "What should the next one know?",
    button: "Give it back",
  },
};

/** Do what a move says; moves that need a reason ask for one. */
export function move(task: string, name: string): void {
  if (name === "unblock") void act("/api/task/unblock", { task }, `${task} is back on the board.`);
  else if (name === "retry") void act("/api/task/retry", { task }, `${task} will be tried again.`);
  else if (name in WORDS) asking.value = { task, move: name as Question["move"] };
}

export function changePriority(task: TaskRow, priority: number): void {
  const wanted = Math.max(0, priority);
  if (wanted === task.priority) return;
  const done = `${task.id} has priority ${wanted}.`;
  if (task.state === "review") void act("/api/queue/prioritise", { task: task.id, priority: wanted }, done);
  else void act("/api/task/edit", { task: task.id, priority: wanted }, done);
}

async function carryOut({ task, move }: Question, said: string): Promise<boolean> {
  switch (move) {
    case "block":
      return act("/api/task/block", { task, reason: said, force: true }, `${task} is blocked.`);
    case "cancel":
      return act("/api/task/cancel", { task, reason: said }, `${task} is cancelled.`);
    case "land":
      return act("/api/task/land", { task, commit: said }, `${task} has landed.`);
    case "hand-off":
      return act("/api/task/hand-off", { task, note: said, force: true }, `${task} was given back.`);
  }
}

/** The question that is open, if one is. */
export function Asking() {
  const question = asking.value;
  const [said, setSaid] = useState("");
  if (!question) return null;
  const words = WORDS[question.move];
  const close = () => {
    setSaid("");
    asking.value = null;
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    if (await carryOut(question, said)) close();
  };
  return (
    <Dialog title={`${words.title}: ${question.task}`} onClose={close}>
      <form class="fill" onSubmit={(event) => void submit(event)}>
        <p class="soft">{words.text}</p>
        <Field label={words.label}>
          <input class="input" autofocus value={said} onInput={(event) => setSaid(event.currentTarget.value)} />
        </Field>
        <div class="foot">
          <Button onClick={close}>Not now</Button>
          <Button type="submit" kind={question.move === "cancel" ? "danger" : "first"}>
            {words.button}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
