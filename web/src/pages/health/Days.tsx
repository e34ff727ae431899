/** Daily cost as bars; the line is the daily budget. */

import type { CostRow } from "../../api/rows";
import { money } from "../../lib/words";

const MOST = 14;
const WIDE = 22;
const HIGH = 60;

export function Days({ rows, budget }: { rows: readonly CostRow[]; budget: number }) {
  const days = [...rows].sort((one, other) => one.name.localeCompare(other.name)).slice(-MOST);
  if (!days.length) return null;
  const top = Math.max(budget, ...days.map((day) => day.cost.usd ?? 0)) || 1;
  const place = (usd: number) => HIGH - (HIGH * usd) / top;
  return (
    <figure>
      <h3>By day{budget > 0 && ` (budget: $${budget.toFixed(2)})`}</h3>
      <svg
        class="days"
        width={MOST * WIDE}
        height={HIGH + 16}
        role="img"
        aria-label={days.map((day) => `${day.name}: ${money(day.cost) || "nothing"}`).join(", ")}
      >
        {days.map((day, at) => {
          const y = place(day.cost.usd ?? 0);
          return (
            <g key={day.name}>
              <rect x={at * WIDE + 2} y={Math.min(y, HIGH - 1)} width={WIDE - 6} height={Math.max(1, HIGH - y)} rx="2">
                <title>{`${day.name}: ${money(day.cost)}`}</title>
              </rect>
              <text x={at * WIDE + WIDE / 2 - 1} y={HIGH + 12} text-anchor="middle">
                {day.name.slice(-2)}
              </text>
            </g>
          );
        })}
        {budget > 0 && <line x1="0" x2={MOST * WIDE} y1={place(budget)} y2={place(budget)} />}
      </svg>
    </figure>
  );
}
