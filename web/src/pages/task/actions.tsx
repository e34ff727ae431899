/** Actions on a task, from a card, a key or the drawer; some ask for a reason first. */

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
    text: "No agent works on the task until it is unblocked. A running session is stopped.",
    label: "What is it waiting for?",
    button: "Block task",
  },
  cancel: {
    title: "Cancel",
    text: "The task is abandoned, and tasks that need it can never start.",
    label: "Reason",
    button: "Cancel task",
  },
  land: {
    title: "Record as landed",
    text: "Use this if the work is already on the target branch, merged by hand.",
    label: "Commit on the target branch",
    button: "Record",
  },
  "hand-off": {
    title: "Hand off",
    text: "The task is taken from its current holder and returns to the board.",
    label: "Note for the next session",
    button: "Hand off",
  },
};

/** Carry out a move; some ask for a reason first. */
export function move(task: string, name: string): void {
  if (name === "unblock") void act("/api/task/unblock", { task }, `${task} unblocked`);
  else if (name === "retry") void act("/api/task/retry", { task }, `${task} will be retried`);
  else if (name in WORDS) asking.value = { task, move: name as Question["move"] };
}

export function changePriority(task: TaskRow, priority: number): void {
  const wanted = Math.max(0, priority);
  if (wanted === task.priority) return;
  const done = `${task.id} has priority ${wanted}`;
  if (task.state === "review") void act("/api/queue/prioritise", { task: task.id, priority: wanted }, done);
  else void act("/api/task/edit", { task: task.id, priority: wanted }, done);
}

async function carryOut({ task, move }: Question, said: string): Promise<boolean> {
  switch (move) {
    case "block":
      return act("/api/task/block", { task, reason: said, force: true }, `${task} blocked`);
    case "cancel":
      return act("/api/task/cancel", { task, reason: said }, `${task} cancelled`);
    case "land":
      return act("/api/task/land", { task, commit: said }, `${task} recorded as landed`);
    case "hand-off":
      return act("/api/task/hand-off", { task, note: said, force: true }, `${task} handed off`);
  }
}

/** The dialog that asks for a reason, if one is open. */
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
          <Button onClick={close}>Close</Button>
          <Button type="submit" kind={question.move === "cancel" ? "danger" : "first"}>
            {words.button}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
