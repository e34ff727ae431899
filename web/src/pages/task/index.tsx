/** The drawer of one task, over the current page: its brief, why it is in its state, and actions. */

import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Answer, get } from "../../api/client";
import type { SessionRow, TaskRow } from "../../api/rows";
import { useKeys } from "../../lib/keys";
import { closeTask } from "../../lib/router";
import { money } from "../../lib/words";
import { store, tables } from "../../live";
import { Age, Badge, Button, EmptyState, Money, SessionLink, StateBadge, TaskLink } from "../../ui/parts";
import { act, complain } from "../../ui/toast";
import { standing } from "../sessions/state";
import { changePriority, move } from "./actions";
import "./task.css";

type Detail = Answer<"/api/tasks/{task}">;
type Why = Answer<"/api/tasks/{task}/why">;

const BUTTONS: Record<string, string> = {
  retry: "Retry",
  unblock: "Unblock",
  block: "Block",
  "hand-off": "Hand off",
  land: "Record as landed",
  cancel: "Cancel",
};

/** Details of a task that are not in its row; fetched again when the task changes. */
function useDetail(id: string): { detail: Detail | null; why: Why | null } {
  const [found, setFound] = useState<{ id: string; detail: Detail | null; why: Why | null }>({
    id,
    detail: null,
    why: null,
  });
  const mark = useComputed(() => {
    const task = tables.tasks.row(id);
    const sessions = tables.sessions.rows.value
      .filter((session) => session.task === id)
      .map((session) => session.verdict);
    const needs = task?.needs.map((need) => tables.tasks.row(need)?.state);
    return JSON.stringify([
      id,
      task?.state,
      task?.column,
      task?.since_at,
      task?.priority,
      task?.comments,
      task?.reason,
      sessions,
      needs,
    ]);
  }).value;
  useEffect(() => {
    const asking = new AbortController();
    Promise.all([
      get("/api/tasks/{task}", { task: id }, {}, asking.signal),
      get("/api/tasks/{task}/why", { task: id }, {}, asking.signal),
    ]).then(
      ([detail, why]) => setFound({ id, detail, why }),
      (error: unknown) => asking.signal.aborted || complain(error),
    );
    return () => asking.abort();
  }, [mark]);
  return found.id === id ? found : { detail: null, why: null };
}

export default function TaskDrawer({ id }: { id: string }) {
  const task = tables.tasks.row(id);
  const box = useRef<HTMLElement>(null);
  const known = store.seq.value >= 0;
  useEffect(() => {
    const before = document.activeElement;
    box.current?.focus({ preventScroll: true });
    return () => before instanceof HTMLElement && before.isConnected && before.focus({ preventScroll: true });
  }, [id]);
  return (
    <aside ref={box} class="drawer" aria-label={`Task ${id}`} tabIndex={-1}>
      {task ? <Task key={id} task={task} /> : <Missing id={id} known={known} />}
    </aside>
  );
}

function Missing({ id, known }: { id: string; known: boolean }) {
  return known ? (
    <EmptyState title={`Task ${id} not found.`}>
      <Button onClick={closeTask}>Close</Button>
    </EmptyState>
  ) : null;
}

function Task({ task }: { task: TaskRow }) {
  const { detail, why } = useDetail(task.id);
  const past = store.past.value;
  const comments = detail?.comments.filter((comment) => past === null || comment.seq <= past) ?? [];
  const moves = past === null ? (why?.moves ?? []).filter((name) => name in BUTTONS) : [];
  useKeys(
    moves.map((name) => ({
      keys: "",
      label: `${BUTTONS[name]}: ${task.id}`,
      group: "Task",
      run: () => move(task.id, name),
    })),
  );
  return (
    <>
      <header>
        <span class="mono soft">{task.id}</span>
        <StateBadge state={task.column} />
        {task.urgent && <Badge tone="red">urgent</Badge>}
        <span class="grow" />
        <Button kind="quiet" icon="close" label="Close (Escape)" onClick={closeTask} />
      </header>
      <section class="inside" tabIndex={0} aria-label={`About ${task.id}`}>
        <h2 class="prose">{task.title}</h2>
        {moves.length > 0 && (
          <div class="across wrap">
            {moves.map((name) => (
              <Button
                key={name}
                {...(name === "cancel" ? { kind: "danger" as const } : {})}
                onClick={() => move(task.id, name)}
              >
                {BUTTONS[name]}
              </Button>
            ))}
          </div>
        )}
        {why && past === null && <WhyHere why={why} task={task} />}
        <Facts task={task} detail={detail} />
        {detail?.brief && (
          <Part title="Brief">
            <div class="prose brief">{detail.brief}</div>
          </Part>
        )}
        <Sessions task={task} />
        <Part title={`Comments${comments.length ? ` (${comments.length})` : ""}`}>
          {comments.map((comment) => (
            <div key={comment.seq} class="comment">
              <div class="across small">
                <strong>{comment.actor}</strong>
                <span class="faint">
                  <Age at={comment.at} />
                </span>
              </div>
              <div class="prose">{comment.text}</div>
            </div>
          ))}
          {past === null && <Comment task={task.id} />}
        </Part>
      </section>
    </>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function WhyHere({ why, task }: { why: Why; task: TaskRow }) {
  return (
    <section class="why">
      <p>
        <strong>{why.summary}</strong>
      </p>
      {why.obstacles.map((obstacle, at) => (
        <p key={at} class="soft">
          {obstacle.text}
        </p>
      ))}
      {why.met?.map((text, at) => (
        <p key={at} class="soft">
          {text}
        </p>
      ))}
      {why.overlaps?.map((overlap, at) => (
        <p key={at} class="soft">
          {overlap.text}
        </p>
      ))}
      {task.reason && !why.obstacles.some(({ text }) => text.includes(task.reason)) && (
        <p class="soft prose">“{task.reason}”</p>
      )}
    </section>
  );
}

function Facts({ task, detail }: { task: TaskRow; detail: Detail | null }) {
  const waiting = useComputed(() =>
    tables.tasks.rows.value.filter((other) => other.needs.includes(task.id)).map((other) => other.id),
  ).value;
  const convoy = tables.convoys.row(task.convoy);
  return (
    <dl class="facts">
      <Fact name="Convoy">
        <a href={`/convoy/${encodeURIComponent(task.convoy)}`}>{convoy?.title ?? task.convoy}</a>
      </Fact>
      <Fact name="Priority">
        <span class="across">
          <span class="number">{task.priority}</span>
          <Button
            kind="quiet"
            icon="up"
            label="Raise priority"
            onClick={() => changePriority(task, task.priority + 1)}
          />
          <Button
            kind="quiet"
            icon="down"
            label="Lower priority"
            disabled={task.priority === 0}
            onClick={() => changePriority(task, task.priority - 1)}
          />
        </span>
      </Fact>
      {task.holder && (
        <Fact name="Held by">{task.holder === task.session ? <SessionLink id={task.session} /> : task.holder}</Fact>
      )}
      {(task.engine || task.role) && (
        <Fact name="Engine, role">{[task.engine || "default", task.role].filter(Boolean).join(", ")}</Fact>
      )}
      {task.assignee && <Fact name="Reserved for">{task.assignee}</Fact>}
      {task.attempts > 0 && <Fact name="Attempts">{task.attempts}</Fact>}
      {money(task.cost) && (
        <Fact name="Cost">
          <Money cost={task.cost} />
        </Fact>
      )}
      <Fact name="Added">
        <Age at={task.added_at} /> ago
      </Fact>
      {task.parent && (
        <Fact name="Parent">
          <TaskLink id={task.parent} />
        </Fact>
      )}
      {task.needs.length > 0 && (
        <Fact name="Needs">
          <TaskList ids={task.needs} reasons={task.reasons} />
        </Fact>
      )}
      {waiting.length > 0 && (
        <Fact name="Needed by">
          <TaskList ids={waiting} />
        </Fact>
      )}
      {task.paths.length > 0 && (
        <Fact name="Paths">
          {task.paths.map((path) => (
            <div key={path} class="mono prose">
              {path}
            </div>
          ))}
        </Fact>
      )}
      {detail && detail.accept.length > 0 && (
        <Fact name="Must pass">
          {detail.accept.map((line) => (
            <div key={line} class="mono prose">
              {line}
            </div>
          ))}
        </Fact>
      )}
      {task.commit && (
        <Fact name="Commit">
          <span class="mono" title={task.commit}>
            {task.commit.slice(0, 12)}
          </span>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

function TaskList({ ids, reasons = {} }: { ids: readonly string[]; reasons?: Record<string, string> }) {
  return (
    <ul class="tasks">
      {ids.map((id) => {
        const row = tables.tasks.row(id);
        return (
          <li key={id} class="across">
            <TaskLink id={id} />
            {row && <StateBadge state={row.column} />}
            <span class="cut faint" title={reasons[id]}>
              {row?.title}
            </span>
          </li>
        );
      })}
    </ul>
  );
}

/** The newest session is on the board; earlier ones are fetched. */
function useSessions(task: TaskRow): readonly SessionRow[] {
  const newest = tables.sessions.row(task.session);
  const [earlier, setEarlier] = useState<readonly SessionRow[]>([]);
  useEffect(() => {
    if (task.attempts < 2) return;
    const asking = new AbortController();
    get("/api/tasks/{task}/sessions", { task: task.id }, {}, asking.signal)
      .then(setEarlier)
      .catch((error: unknown) => asking.signal.aborted || complain(error));
    return () => asking.abort();
  }, [task.id, task.attempts]);
  const started = newest?.started_at ?? 0;
  return [
    ...earlier.filter((one) => one.id !== task.session && one.started_at <= started),
    ...(newest ? [newest] : []),
  ];
}

function Sessions({ task }: { task: TaskRow }) {
  const found = useSessions(task);
  if (!found.length) return null;
  return (
    <Part title="Sessions">
      {[...found].reverse().map((session) => (
        <div key={session.id} class="across session">
          <SessionLink id={session.id} />
          <StateBadge {...stateOf(session)} />
          <span class="cut faint grow">{session.live ? session.progress : session.detail}</span>
          <span class="faint small">
            <Money cost={session.cost} />
          </span>
          <span class="faint small">
            <Age at={session.ended_at || session.started_at} />
          </span>
        </div>
      ))}
    </Part>
  );
}

const stateOf = (session: SessionRow) => {
  const { word, tone } = standing(session);
  return { state: word, tone };
};

function Comment({ task }: { task: string }) {
  const [text, setText] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    if (text.trim() && (await act("/api/task/comment", { task, text: text.trim() }, "Comment added"))) setText("");
  };
  return (
    <form class="across" onSubmit={(event) => void submit(event)}>
      <input
        class="input grow"
        aria-label="Comment"
        placeholder="Write a comment"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Button type="submit" icon="send" label="Add comment" disabled={!text.trim()} />
    </form>
  );
}
