/** Figures about the queue, from the recent verdicts in the log. */

import type { CheckRow } from "../../api/rows";
import { now } from "../../lib/clock";
import { plural, span } from "../../lib/words";

const HOUR = 3_600_000;
const BARS = 24;

type Props = { checks: readonly CheckRow[]; waiting: number; running: number };

export function Figures({ checks, waiting, running }: Props) {
  const ended = checks.filter((check) => check.result !== "cancelled");
  const green = ended.filter((check) => check.result !== "red");
  const at = now.value;
  const lately = green.filter((check) => check.kind === "land" && at - check.ended_at < HOUR);
  const proved = new Set(lately.flatMap((check) => check.members)).size;
  const run = median(ended.filter((check) => !check.cached).map((check) => check.took_ms));
  return (
    <dl class="figures">
      <Figure name="being checked" value={String(running)} />
      <Figure name="waiting" value={String(waiting)} />
      <Figure name="changes passed in the last hour" value={String(proved)} />
      <Figure
        name={`green, last ${plural(ended.length, "run")}`}
        value={ended.length ? `${Math.round((100 * green.length) / ended.length)} %` : "–"}
      />
      <Figure
        name="median run time"
        value={run === undefined ? "–" : run < 1000 ? `${Math.round(run)} ms` : span(run)}
      />
      <div class="figure wide">
        <dt>recent runs and their durations</dt>
        <dd>
          <Bars checks={ended.slice(0, BARS).reverse()} />
        </dd>
      </div>
    </dl>
  );
}

const Figure = ({ name, value }: { name: string; value: string }) => (
  <div class="figure">
    <dt>{name}</dt>
    <dd class="number">{value}</dd>
  </div>
);

function Bars({ checks }: { checks: readonly CheckRow[] }) {
  const most = Math.max(1, ...checks.map((check) => check.took_ms));
  const reds = checks.filter((check) => check.result === "red").length;
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${BARS * 8} 32`}
      role="img"
      aria-label={`${plural(checks.length, "run")}, ${reds} red`}
      preserveAspectRatio="xMinYMax meet"
    >
      {checks.map((check, at) => {
        const height = Math.max(3, (30 * check.took_ms) / most);
        return (
          <rect
            key={check.id}
            x={at * 8}
            y={32 - height}
            width="6"
            height={height}
            rx="1"
            class={`bar ${check.result}`}
          >
            <title>{`${check.id}: ${check.result}, ${span(check.took_ms)}`}</title>
          </rect>
        );
      })}
    </svg>
  );
}

function median(numbers: readonly number[]): number | undefined {
  const sorted = [...numbers].sort((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}
