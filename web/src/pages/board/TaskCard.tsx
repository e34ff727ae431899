/** One task on the board; redrawn only when its own row changes. */

import type { Signal } from "@preact/signals";
import { memo } from "preact/compat";
import type { TaskRow } from "../../api/rows";
import { plain } from "../../lib/ansi";
import { openTask } from "../../lib/router";
import { plural } from "../../lib/words";
import { tables } from "../../live";
import { Age, Badge, Money } from "../../ui/parts";
import { chosen } from "./chosen";

type Props = { id: string; tall: boolean; dragged: Signal<string> };

export const TaskCard = memo(function TaskCard({ id, tall, dragged }: Props) {
  const task = tables.tasks.row(id);
  if (!task) return null;
  const open = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openTask(id);
  };
  const begin = (event: DragEvent) => {
    event.dataTransfer?.setData("text/plain", id);
    dragged.value = id;
  };
  return (
    <article class="card" data-task={id} draggable onDragStart={begin} onDragEnd={() => (dragged.value = "")}>
      <div class="across top">
        <span class="mono id">{id}</span>
        {task.priority > 0 && <Badge tone="accent" title="priority">{`P${task.priority}`}</Badge>}
        {task.urgent && <Badge tone="red">urgent</Badge>}
        {task.attempts > 1 && <Badge tone="amber" title={`${task.attempts} attempts`}>{`×${task.attempts}`}</Badge>}
        {task.returns > 0 && (
          <Badge
            tone="violet"
            title={`returned by the queue ${plural(task.returns, "time")}`}
          >{`↩${task.returns}`}</Badge>
        )}
        <span class="grow cut faint small" title={needs(task)}>
          {needs(task)}
        </span>
        <span class="faint small">
          <Age at={task.since_at} title="since" />
        </span>
      </div>
      <a
        class="title"
        id={`card-${id}`}
        href={`/tasks/${encodeURIComponent(id)}`}
        draggable={false}
        onClick={open}
        onFocus={() => (chosen.value = id)}
      >
        {task.title}
      </a>
      {tall && (
        <div class="said cut small soft" title={said(task)}>
          {said(task)}
        </div>
      )}
      {tall && <Foot task={task} />}
    </article>
  );
});

/** What the task waits for: other tasks, or its convoy to be resumed. */
function needs(task: TaskRow): string {
  if (task.column === "todo")
    return tables.pauses.row(`sessions:${task.convoy}`) || tables.pauses.row("sessions:") ? "paused" : "";
  if (task.column !== "backlog") return "";
  const unmet = task.needs.filter((need) => tables.tasks.row(need)?.state !== "done");
  return unmet.length ? `after ${unmet.join(", ")}` : "";
}

/** The line that says what is happening, or what is wrong. */
function said(task: TaskRow): string {
  if (task.column === "doing") return plain(task.progress) || (task.session ? "started" : "");
  if (task.column === "review") return tables.queue.row(task.id)?.waits ?? "";
  return task.reason;
}

function Foot({ task }: { task: TaskRow }) {
  const live = task.session && task.holder === task.session;
  return (
    <div class="across small foot">
      {live && <span class="pulse" />}
      {task.session ? (
        <a class="mono session" href={`/sessions/${encodeURIComponent(task.session)}`} draggable={false}>
          {task.session}
        </a>
      ) : (
        task.holder && <span class="cut faint">{task.holder}</span>
      )}
      {task.engine && <span class="faint cut">{task.engine}</span>}
      {task.role && <span class="faint cut">{task.role}</span>}
      <span class="grow" />
      <span class="faint">
        <Money cost={task.cost} />
      </span>
    </div>
  );
}
