/** The number of tasks in each column, as one bar. */

import type { ConvoyRow } from "../../api/rows";
import { plural } from "../../lib/words";
import { toneOf } from "../../ui/parts";

const ORDER = ["done", "review", "doing", "todo", "backlog", "blocked", "failed", "cancelled"];

export function Progress({ row }: { row: ConvoyRow }) {
  const all = Object.values(row.tasks).reduce((sum, one) => sum + one, 0);
  const parts = ORDER.map((name) => [name, row.tasks[name] ?? 0] as const).filter(([, number]) => number > 0);
  if (!all) return <span class="soft">no tasks</span>;
  return (
    <div>
      <div
        class="progress"
        role="img"
        aria-label={`${plural(all, "task")}: ${parts.map(([name, number]) => `${number} ${name}`).join(", ")}`}
      >
        {parts.map(([name, number]) => (
          <span
            key={name}
            class={`tone-${toneOf(name)}`}
            style={{ flexGrow: String(number) }}
            title={`${number} ${name}`}
          />
        ))}
      </div>
      <ul class="legend across wrap small">
        {parts.map(([name, number]) => (
          <li key={name} class={`across tone-${toneOf(name)}`}>
            <span class="dot" />
            {number} {name}
          </li>
        ))}
      </ul>
    </div>
  );
}
