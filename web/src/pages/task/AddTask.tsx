/** The form for a new task. The configuration fills in empty fields. */

import { useEffect, useRef, useState } from "preact/hooks";
import { get, Refused } from "../../api/client";
import { openTask } from "../../lib/router";
import { command, store, tables } from "../../live";
import { Button, Dialog, Field } from "../../ui/parts";
import { tell } from "../../ui/toast";

const lines = (text: FormDataEntryValue | null) =>
  String(text ?? "")
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);

export default function AddTask({ convoy, onClose }: { convoy: string; onClose: () => void }) {
  const [engines, setEngines] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<Refused | null>(null);
  const sending = useRef(false);
  const convoys = tables.convoys.rows.value;
  useEffect(() => {
    get("/api/health").then(
      (health) => setEngines(Object.keys(health.engines)),
      () => setEngines([]),
    );
  }, []);
  const submit = async (event: SubmitEvent) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const text = (name: string) => String(form.get(name) ?? "").trim();
    if (sending.current) return; // pressed twice, meant once
    if (store.past.peek() !== null)
      return setProblem(new Refused(0, "past", "You are viewing the past.", "go back to now to add a task"));
    sending.current = true;
    try {
      const added = await command("/api/task/add", {
        title: text("title"),
        ...(text("convoy") ? { convoy: text("convoy") } : {}),
        brief: text("brief"),
        priority: Number(text("priority")) || 0,
        engine: text("engine"),
        role: text("role"),
        needs: text("needs")
          .split(/[\s,]+/)
          .filter(Boolean),
        paths: lines(form.get("paths")),
        accept: lines(form.get("accept")),
      });
      const { id } = added as { id: string };
      tell(`${id} added`);
      onClose();
      openTask(id);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      setProblem(error);
    } finally {
      sending.current = false;
    }
  };
  const press = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    (event.currentTarget as HTMLFormElement).requestSubmit();
  };
  return (
    <Dialog title="Add a task" onClose={onClose}>
      <form class="fill add" onSubmit={(event) => void submit(event)} onKeyDown={press}>
        <Field label="Title">
          <input class="input" name="title" required autofocus maxLength={200} />
        </Field>
        <Field label="Brief (the full instructions)">
          <textarea class="input" name="brief" rows={5} />
        </Field>
        <div class="across wrap fields">
          <Field label="Convoy">
            <select class="input" name="convoy" defaultValue={convoy || convoys.at(-1)?.id}>
              {convoys.map((row) => (
                <option key={row.id} value={row.id}>
                  {row.title}
                </option>
              ))}
            </select>
          </Field>
          <Field label="Priority">
            <input class="input" name="priority" type="number" min={0} defaultValue="0" />
          </Field>
          <Field label="Engine">
            <select class="input" name="engine">
              <option value="">default</option>
              {engines.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </Field>
          <Field label="Role">
            <input class="input" name="role" size={10} />
          </Field>
        </div>
        <Field label="Needs (tasks that must land first)">
          <input class="input mono" name="needs" placeholder="AF-1, AF-2" />
        </Field>
        <Field label="Paths it may change (one per line)">
          <textarea class="input mono" name="paths" rows={2} />
        </Field>
        <Field label="Commands that must pass (one per line)">
          <textarea class="input mono" name="accept" rows={2} />
        </Field>
        {problem && (
          <p class="tone-red problem" role="alert">
            {problem.message}
            {problem.hint && ` (${problem.hint})`}
          </p>
        )}
        <div class="foot">
          <span class="small faint grow">Press Ctrl+Enter to add</span>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="first">
            Add task
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
