/** Starts a conversation: the goal, and the engine that plans. */

import { useEffect, useState } from "preact/hooks";
import { get } from "../../api/client";
import type { MayorRow } from "../../api/rows";
import { go, pathTo } from "../../lib/router";
import { Button, EmptyState, Field } from "../../ui/parts";
import { act, complain } from "../../ui/toast";
import { unsettled } from "./standing";

export function Start({ newest }: { newest: MayorRow | undefined }) {
  const [engines, setEngines] = useState<Readonly<Record<string, string>> | null>(null);
  const [goal, setGoal] = useState("");
  const [engine, setEngine] = useState("");
  const [again, setAgain] = useState(false);
  const [sending, setSending] = useState(false);
  useEffect(() => {
    const asking = new AbortController();
    get("/api/health", {}, {}, asking.signal).then(
      (health) => setEngines(health.engines),
      (error: unknown) => asking.signal.aborted || complain(error),
    );
    return () => asking.abort();
  }, []);
  if (unsettled(newest))
    return (
      <EmptyState title="Only one conversation can be open.">
        <a href={pathTo("mayor")}>{newest!.id}</a> is still open. Approve or reject its plan, or stop it.
      </EmptyState>
    );
  if (engines && !Object.keys(engines).length)
    return (
      <EmptyState title="No engine is configured.">
        To make plans, add one to .corral/config.toml: <code>[engine.default]</code>
      </EmptyState>
    );
  const start = async (event: Event) => {
    event.preventDefault();
    setSending(true);
    const body = { goal: goal.trim(), engine, replan: again ? "on_failure" : "" };
    const done = goal.trim() && (await act("/api/mayor/start", body, "Asked the mayor for a plan"));
    setSending(false);
    if (done) go(pathTo("mayor"));
  };
  return (
    <div class="mayor-start">
      <form class="panel stack" onSubmit={(event) => void start(event)}>
        <div>
          <h2>What should be done?</h2>
          <p class="soft">
            The mayor reads the repository and proposes a plan: tasks, their dependencies, and how each is accepted.
            Nothing runs until you approve it.
          </p>
        </div>
        <Field label="Goal">
          <textarea
            class="input"
            rows={6}
            required
            autofocus
            placeholder="Describe the result you want, and what must not change."
            value={goal}
            onInput={(event) => setGoal(event.currentTarget.value)}
          />
        </Field>
        <div class="across wrap fields">
          <Field label="Planning engine">
            <select class="input" value={engine} onChange={(event) => setEngine(event.currentTarget.value)}>
              <option value="">as configured</option>
              {Object.entries(engines ?? {}).map(([name, type]) => (
                <option key={name} value={name}>
                  {name === type ? name : `${name} (${type})`}
                </option>
              ))}
            </select>
          </Field>
          <label class="across tick">
            <input type="checkbox" checked={again} onChange={(event) => setAgain(event.currentTarget.checked)} /> Replan
            when a task fails
          </label>
        </div>
        <div class="across">
          <span class="grow" />
          {newest && <Button onClick={() => go(pathTo("mayor"))}>Cancel</Button>}
          <Button type="submit" kind="first" icon="send" disabled={!goal.trim() || sending}>
            {sending ? "Asking …" : "Make a plan"}
          </Button>
        </div>
      </form>
    </div>
  );
}
