/** What was handed in and has not landed: its place, what it waits for, and who goes first. */

import type { QueueRow } from "../../api/rows";
import { tables } from "../../live";
import { Age, Badge, Button, TaskLink } from "../../ui/parts";
import { act } from "../../ui/toast";
import { LogLink } from "./CheckLog";

const FIRST = 100;

/** Each convoy has a queue of its own. */
export function Waiting({ rows }: { rows: readonly QueueRow[] }) {
  const convoys = [...new Set(rows.map((row) => row.convoy))];
  return convoys.map((convoy) => (
    <section key={convoy} aria-label={`Queue of ${convoy}`}>
      {convoys.length > 1 && <h3 class="of">{tables.convoys.row(convoy)?.title ?? convoy}</h3>}
      <Changes rows={rows.filter((row) => row.convoy === convoy)} />
    </section>
  ));
}

/** Why it has not landed: the run that checks it comes first, and leads to what that prints. */
function Waits({ row }: { row: QueueRow }) {
  const named = row.checks.find((run) => row.waits.startsWith(`${run} `));
  return (
    <>
      {row.checks
        .filter((run) => run !== named)
        .map((run) => (
          <LogLink key={run} run={run} />
        ))}
      {row.waits && (
        <span>
          {named && <LogLink run={named} />}
          {named ? row.waits.slice(named.length) : row.waits}
        </span>
      )}
    </>
  );
}

const Changes = ({ rows }: { rows: readonly QueueRow[] }) => (
  <ol>
    {rows.map((row) => (
      <li key={row.id} class="change" data-queued={row.id}>
        <span class="place number" title="place in the queue of its convoy">
          {row.place}
        </span>
        <div class="grow">
          <div class="across wrap">
            <TaskLink id={row.id} />
            <span class="cut">{row.title}</span>
            {row.priority > 0 && (
              <Badge tone="accent" title="higher goes first">
                priority {row.priority}
              </Badge>
            )}
            {row.returns > 0 && <Badge tone="amber">sent back {row.returns} ×</Badge>}
          </div>
          <div class="small soft across wrap">
            <Waits row={row} />
            {row.behind.length > 0 && (
              <span>
                behind{" "}
                {row.behind.map((task) => (
                  <span key={task}>
                    <TaskLink id={task} />{" "}
                  </span>
                ))}
              </span>
            )}
          </div>
        </div>
        <span class="small soft">
          <Age at={row.queued_at} title="handed in" />
        </span>
        <div class="across">
          <Button
            kind="quiet"
            icon="up"
            label={`Let ${row.id} go first`}
            disabled={row.priority >= FIRST}
            onClick={() => void act("/api/queue/prioritise", { task: row.id, priority: FIRST }, `${row.id} goes first`)}
          />
          <Button
            kind="quiet"
            icon="down"
            label={`Let ${row.id} take its turn`}
            disabled={row.priority === 0}
            onClick={() => void act("/api/queue/prioritise", { task: row.id, priority: 0 }, `${row.id} takes its turn`)}
          />
          <Button
            kind="quiet"
            icon="close"
            label={`Take ${row.id} out of the queue`}
            onClick={() =>
              void act(
                "/api/queue/eject",
                { task: row.id, reason: "taken out on the dashboard" },
                `${row.id} is out of the queue; its work is kept`,
              )
            }
          />
        </div>
      </li>
    ))}
  </ol>
);
