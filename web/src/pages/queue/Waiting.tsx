/** Submitted changes that have not landed: their place, what they wait for, and their priority. */

import type { QueueRow } from "../../api/rows";
import { plural } from "../../lib/words";
import { tables } from "../../live";
import { Age, Badge, Button, TaskLink } from "../../ui/parts";
import { act } from "../../ui/toast";
import { LogLink } from "./CheckLog";

const FIRST = 100;

/** Each convoy has its own queue. */
export function Waiting({ rows }: { rows: readonly QueueRow[] }) {
  const convoys = [...new Set(rows.map((row) => row.convoy))];
  return convoys.map((convoy) => (
    <section key={convoy} aria-label={`Queue of ${convoy}`}>
      {convoys.length > 1 && <h3 class="of">{tables.convoys.row(convoy)?.title ?? convoy}</h3>}
      <Changes rows={rows.filter((row) => row.convoy === convoy)} />
    </section>
  ));
}

/** Why a change has not landed; check runs link to their output. */
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
              <Badge tone="accent" title="higher priority lands first">
                priority {row.priority}
              </Badge>
            )}
            {row.returns > 0 && <Badge tone="amber">returned {plural(row.returns, "time")}</Badge>}
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
          <Age at={row.queued_at} title="submitted" />
        </span>
        <div class="across">
          <Button
            kind="quiet"
            icon="up"
            label={`Move ${row.id} to the front`}
            disabled={row.priority >= FIRST}
            onClick={() =>
              void act("/api/queue/prioritise", { task: row.id, priority: FIRST }, `${row.id} moved to the front`)
            }
          />
          <Button
            kind="quiet"
            icon="down"
            label={`Reset the priority of ${row.id}`}
            disabled={row.priority === 0}
            onClick={() =>
              void act("/api/queue/prioritise", { task: row.id, priority: 0 }, `${row.id} has normal priority`)
            }
          />
          <Button
            kind="quiet"
            icon="close"
            label={`Remove ${row.id} from the queue`}
            onClick={() =>
              void act(
                "/api/queue/eject",
                { task: row.id, reason: "removed on the dashboard" },
                `${row.id} removed from the queue; its work is kept`,
              )
            }
          />
        </div>
      </li>
    ))}
  </ol>
);
