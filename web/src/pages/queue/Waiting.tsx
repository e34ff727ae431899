/** What was handed in and has not landed: its place, what it waits for, and who goes first. */

import type { QueueRow } from "../../api/rows";
import { Age, Badge, Button, TaskLink } from "../../ui/parts";
import { act } from "../../ui/toast";
import { LogLink } from "./CheckLog";

const FIRST = 100;

export const Waiting = ({ rows }: { rows: readonly QueueRow[] }) => (
  <ol>
    {rows.map((row) => (
      <li key={row.id} class="change" data-queued={row.id}>
        <span class="place number" title="place in the queue of its convoy">{row.place}</span>
        <div class="grow">
          <div class="across wrap">
            <TaskLink id={row.id} />
            <span class="cut">{row.title}</span>
            {row.priority > 0 && <Badge tone="accent" title="higher goes first">priority {row.priority}</Badge>}
            {row.returns > 0 && <Badge tone="amber">sent back {row.returns} ×</Badge>}
          </div>
          <div class="small soft across wrap">
            {row.checks.map((run) => <LogLink key={run} run={run} />)}
            {row.waits && <span>{row.waits}</span>}
            {row.behind.length > 0 && <span>behind {row.behind.map((task) => <span key={task}><TaskLink id={task} /> </span>)}</span>}
          </div>
        </div>
        <span class="small soft"><Age at={row.queued_at} title="handed in" /></span>
        <div class="across">
          <Button kind="quiet" icon="up" label={`Let ${row.id} go first`} disabled={row.priority >= FIRST} onClick={() => void act("/api/queue/prioritise", { task: row.id, priority: FIRST }, `${row.id} goes first`)} />
          <Button kind="quiet" icon="down" label={`Let ${row.id} take its turn`} disabled={row.priority === 0} onClick={() => void act("/api/queue/prioritise", { task: row.id, priority: 0 }, `${row.id} takes its turn`)} />
          <Button kind="quiet" icon="close" label={`Take ${row.id} out of the queue`} onClick={() => void act("/api/queue/eject", { task: row.id, reason: "taken out on the dashboard" }, `${row.id} is out of the queue; its work is kept`)} />
        </div>
      </li>
    ))}
  </ol>
);
