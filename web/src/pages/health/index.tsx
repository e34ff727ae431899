/** The state of the machinery: roles, jobs, slots, rate limits, the log and costs. */

import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type Answer, get } from "../../api/client";
import type { CostRow, JobRow, LeaseRow, LimitRow } from "../../api/rows";
import { now } from "../../lib/clock";
import { bytes, count, money, plural, span } from "../../lib/words";
import { store, tables } from "../../live";
import type { PageProps } from "../../shell/pages";
import { Age, AsNow, Badge, Button, Card, EmptyState, Money, Page, StateBadge } from "../../ui/parts";
import { act, complain } from "../../ui/toast";
import { Days } from "./Days";
import "./health.css";

type Health = Answer<"/api/health">;

export default function HealthPage(_: PageProps) {
  const health = useHealth();
  return (
    <Page
      title="Health"
      tools={
        <>
          <span class="grow" />
          <Pause />
        </>
      }
    >
      <AsNow>Roles, slots, engines and the log are</AsNow>
      <div class="health">
        <Card title="Roles">{health ? <Roles health={health} /> : "…"}</Card>
        <Card title="Slots">{health ? <Slots health={health} /> : "…"}</Card>
        <Card title="Rate limits">
          <Limits />
        </Card>
        <Card title="Cost">
          <Costs budget={health?.day_usd ?? 0} />
        </Card>
        <Card title="Jobs" flush>
          <Jobs />
        </Card>
        <Card title="Leases" flush>
          <Leases />
        </Card>
        <Card title="Log">{health ? <Log health={health} /> : "…"}</Card>
        <Card title="Engines">{health ? <Engines health={health} /> : "…"}</Card>
      </div>
    </Page>
  );
}

/**
 * Data that is not in the log: fetched once, and again whenever a job ran or a session started or
 * ended. While nothing happens, nothing is fetched.
 */
function useHealth(): Health | null {
  const [health, setHealth] = useState<Health | null>(null);
  const running = tables.slots.row("")?.running ?? 0;
  const ran = tables.jobs.rows.value.reduce((latest, job) => Math.max(latest, job.ran_at), 0);
  useEffect(() => {
    const asking = new AbortController();
    get("/api/health", {}, {}, asking.signal)
      .then(setHealth)
      .catch((error: unknown) => !asking.signal.aborted && complain(error));
    return () => asking.abort();
  }, [running, ran]);
  return health;
}

/** Pause or resume all sessions. */
function Pause() {
  const paused = tables.pauses.row("sessions:");
  return paused ? (
    <Button kind="first" icon="play" onClick={() => void act("/api/resume", { sessions: true }, "Sessions resumed")}>
      Resume sessions
    </Button>
  ) : (
    <Button
      icon="pause"
      onClick={() => void act("/api/pause", { sessions: true, reason: "paused on the dashboard" }, "Sessions paused")}
    >
      Pause sessions
    </Button>
  );
}

const Line = ({ name, children }: { name: ComponentChildren; children: ComponentChildren }) => (
  <li class="across fact">
    <span class="grow cut">{name}</span>
    <span class="number">{children}</span>
  </li>
);

const ROLES: Record<string, string> = {
  server: "dashboard and API",
  witness: "starts and watches sessions",
  refinery: "checks and lands work",
  deacon: "tidies up",
};

const Roles = ({ health }: { health: Health }) => (
  <ul>
    {health.roles.map((role) => (
      <Line
        key={role.name}
        name={
          <>
            {role.name} <span class="faint small">{ROLES[role.name]}</span>
          </>
        }
      >
        <StateBadge tone={role.runs ? "green" : "amber"} state={role.runs ? "running" : "not running"} />
      </Line>
    ))}
  </ul>
);

function Slots({ health }: { health: Health }) {
  const running = (pool: string) => tables.slots.row(pool)?.running ?? 0;
  return (
    <ul class="stack tight">
      <Meter name="concurrent sessions" used={running("")} of={health.slots} />
      {Object.entries(health.pools).map(([pool, most]) => (
        <Meter key={pool} name={`pool ${pool}`} used={running(pool)} of={most} />
      ))}
      <Line name="reserved for urgent tasks">{health.reserve}</Line>
      <Line name="concurrent check runs">{health.check_slots || "automatic"}</Line>
    </ul>
  );
}

const Meter = ({ name, used, of }: { name: string; used: number; of: number }) => (
  <li>
    <div class="across fact">
      <span class="grow">{name}</span>
      <span class="number">
        {used} of {of}
      </span>
    </div>
    {/* biome-ignore lint/a11y/useSemanticElements: a <meter> cannot be drawn in the theme's colours */}
    <div
      class={`meter ${used >= of ? "tone-amber" : ""}`}
      role="meter"
      aria-label={name}
      aria-valuemin={0}
      aria-valuemax={of}
      aria-valuenow={used}
    >
      <span style={{ width: `${of ? Math.min(100, (100 * used) / of) : 0}%` }} />
    </div>
  </li>
);

function Limits() {
  const limits = tables.limits.rows.value;
  if (!limits.length) return <EmptyState title="No rate limits reached." />;
  return (
    <ul class="stack tight">
      {limits.map((limit) => (
        <Limit key={limit.id} limit={limit} />
      ))}
    </ul>
  );
}

function Limit({ limit }: { limit: LimitRow }) {
  const left = limit.until_at - now.value;
  return (
    <li class="limit">
      <div class="across wrap">
        <strong class="mono">{limit.id}</strong>
        {left > 0 ? <Badge tone="amber">limited for {span(left)}</Badge> : <Badge tone="green">open</Badge>}
        <span class="grow" />
        <span class="small soft number">
          {limit.running} running{limit.allowed > 0 && `, ${Math.floor(limit.allowed)} allowed`}
        </span>
      </div>
      {limit.text && <div class="small soft prose">{limit.text}</div>}
      {limit.limited_at > 0 && (
        <div class="small faint">
          limited <Age at={limit.limited_at} /> ago{limit.strikes > 0 && `, ${plural(limit.strikes, "time")} in a row`}
        </div>
      )}
    </li>
  );
}

function Costs({ budget }: { budget: number }) {
  const rows = tables.costs.rows.value;
  const of = (kind: string) => rows.filter((row) => row.kind === kind);
  const total = of("total")[0];
  const read = (total?.cost.fresh ?? 0) + (total?.cost.cached ?? 0);
  if (!total?.sessions) return <EmptyState title="Nothing spent yet." />;
  return (
    <div class="stack">
      <div class="across wrap">
        <span class="total number">{money(total.cost) || "$0.00"}</span>
        <span class="soft small">
          {plural(total.sessions, "session")}, {count(read)} tokens in, {count(total.cost.output ?? 0)} out
        </span>
      </div>
      {(total.cost.unpriced ?? 0) > 0 && (
        <div class="small tone-amber notice-line">
          {count(total.cost.unpriced ?? 0)} tokens have no known price. Set one in [budget] prices.
        </div>
      )}
      <Days rows={of("day")} budget={budget} />
      {(["engine", "model"] as const).map((kind) => (
        <Spent key={kind} kind={kind} rows={of(kind)} />
      ))}
    </div>
  );
}

const Spent = ({ kind, rows }: { kind: string; rows: readonly CostRow[] }) => (
  <div>
    <h3>By {kind}</h3>
    <ul>
      {rows.map((row) => (
        <Line key={row.id} name={<span class="mono">{row.name || "unknown"}</span>}>
          <span class="small faint">{plural(row.sessions, "session")} </span>
          <Money cost={row.cost} />
        </Line>
      ))}
    </ul>
  </div>
);

function Jobs() {
  const jobs = tables.jobs.rows.value;
  if (!jobs.length)
    return <EmptyState title="No job has run yet.">The deacon runs jobs. Start it with: corral up</EmptyState>;
  return (
    <ul>
      {jobs.map((job: JobRow) => (
        <li key={job.id} class="across fact padded" data-job={job.id}>
          <span class="grow cut">{job.id}</span>
          <span class="small soft number">{job.found ? `${job.found} found, ${job.done} done` : "nothing to do"}</span>
          <span class="ago small faint">
            <Age at={job.ran_at} title="last ran" /> ago
          </span>
        </li>
      ))}
    </ul>
  );
}

function Leases() {
  const leases = tables.leases.rows.value;
  if (!leases.length) return <EmptyState title="No leases." />;
  return (
    <ul>
      {leases.map((lease: LeaseRow) => (
        <li key={lease.id} class="across fact padded">
          <span class="grow cut mono">{lease.id}</span>
          <span class="small soft cut">{lease.holder}</span>
          <span class="ago small">
            {lease.expires_at > now.value ? `${span(lease.expires_at - now.value)} left` : "expired"}
          </span>
        </li>
      ))}
    </ul>
  );
}

const Log = ({ health }: { health: Health }) => (
  <ul>
    <Line name="events">{count(store.newest.value)}</Line>
    <Line name="size">{bytes(health.store_bytes)}</Line>
    <Line name="connected clients">{health.streams}</Line>
    <Line name="id">
      <span class="mono small">{store.log.value.slice(0, 12)}</span>
    </Line>
  </ul>
);

function Engines({ health }: { health: Health }) {
  const profiles = Object.entries(health.engines);
  if (!profiles.length)
    return <EmptyState title="No engines configured.">Add one to .corral/config.toml: [engine.default]</EmptyState>;
  return (
    <ul>
      {profiles.map(([name, type]) => (
        <Line key={name} name={<span class="mono">{name}</span>}>
          {type}
        </Line>
      ))}
    </ul>
  );
}
