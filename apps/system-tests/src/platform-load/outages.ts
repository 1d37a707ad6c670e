import { setTimeout as wait } from 'node:timers/promises';
import { say, waitFor } from '../measure/progress.js';
import { formatSeconds, type Section } from '../measure/report.js';
import { runSql } from '../system/servers.js';
import type { PlatformBed } from './platform-bed.js';
import { printOutages } from './outages-report.js';
import type { SimulatedPlatform, SimulatedUser } from './simulated-platform.js';
import { SpeedProbe, type Speeds } from './speed-probe.js';

/** One way in which the platform's API fails. */
interface Outage {
  name: string;
  /** Whether every call to the platform fails during the outage. */
  isTotal: boolean;
  seconds: number;
  begin(platform: SimulatedPlatform): Promise<unknown>;
}

/** One `POST /streamers` during an outage. */
export interface Attempt {
  status: number;
  ms: number;
}

export interface OutageResult {
  name: string;
  isTotal: boolean;
  seconds: number;
  speeds: Speeds;
  attempts: Attempt[];
  /** Streamers stored during the outage. */
  stored: number;
  /** Time from the end of the outage until adding a streamer succeeded. Undefined if the limit passed first. */
  recoveryMs: number | undefined;
  /** Time from that success until polling had caught up. Undefined if the limit passed first. */
  caughtUpMs: number | undefined;
}

const tryEveryMs = 4_000;
const recoveryLimitMs = 60_000;
const lag = 'streamer_monitor_poll_lag_seconds';
// Below this lag, polling has caught up. Without an outage, the lag is close to 0.
const caughtUpLagSeconds = 5;

/** Makes the platform's API fail in several ways. Measures requests that do not need the platform. */
export async function runOutages(bed: PlatformBed): Promise<Section> {
  const { client, system, platform, size } = bed;
  const probe = new SpeedProbe(client, system);
  const baselines: Speeds[] = [];
  const results: OutageResult[] = [];
  const measureBaseline = async (): Promise<void> => {
    await probe.take();
    await wait(size.baselineSeconds * 1_000);
    baselines.push(await probe.take());
  };
  // Each attempt adds a new streamer.
  const users = (await platform.addUsers(400)).values();
  try {
    // Let V8 compile hot code.
    await wait(size.baselineSeconds * 1_000);
    for (const outage of planOutages(size.outageSeconds)) {
      await measureBaseline();
      const result = await measureOutage(bed, { outage, probe, users });
      results.push(result);
      const { recoveryMs, attempts } = result;
      say(
        `${outage.name}: POST ${attempts.map(({ status }) => status).join(' ')}; recovered after ${formatSeconds(recoveryMs ?? Number.NaN)}`,
      );
    }
    await measureBaseline();
  } finally {
    await platform.setApiFault({ mode: 'ok' });
    await probe.stop();
  }
  return printOutages(baselines, results);
}

function planOutages(seconds: number): Outage[] {
  const total = (
    name: string,
    mode: 'down' | 'slow' | 'garbage' | 'error' | 'rate_limited',
    lasting = seconds,
  ) => ({
    name,
    isTotal: true,
    seconds: lasting,
    begin: (platform: SimulatedPlatform) => platform.setApiFault({ mode, for_ms: lasting * 1_000 }),
  });
  return [
    total('down: connections are closed', 'down'),
    total('slow: every reply takes 30 s', 'slow', 2 * seconds),
    total('garbage: 200 without JSON', 'garbage'),
    total('error: 500', 'error'),
    // Long enough for the platform's rate limit to recover.
    total('rate limited: 429', 'rate_limited', 4 * seconds),
    {
      name: 'all access tokens revoked',
      isTotal: false,
      // At least one attempt must fit in, even with --quick.
      seconds: Math.max(seconds / 2, 6),
      begin: (platform) => platform.revokeTokens(),
    },
  ];
}

async function measureOutage(
  bed: PlatformBed,
  { outage, probe, users }: { outage: Outage; probe: SpeedProbe; users: Iterator<SimulatedUser> },
): Promise<OutageResult> {
  const { name, isTotal, seconds } = outage;
  const before = await countStreamers(bed);
  await outage.begin(bed.platform);
  const endsAt = performance.now() + seconds * 1_000;
  const attempts: Attempt[] = [];
  while (performance.now() < endsAt - tryEveryMs - 1_000) {
    const nextAt = performance.now() + tryEveryMs;
    attempts.push(await attemptToAdd(bed, users));
    await wait(Math.max(0, nextAt - performance.now()));
  }
  const stored = (await countStreamers(bed)) - before;
  await wait(Math.max(0, endsAt - performance.now()));
  const speeds = await probe.take();
  const recoveryMs = await measure(async () => (await attemptToAdd(bed, users)).status === 201);
  const caughtUpMs = await measure(
    async () => ((await bed.side.monitors[0]?.metric(lag)) ?? Infinity) < caughtUpLagSeconds,
  );
  return { name, isTotal, seconds, speeds, attempts, stored, recoveryMs, caughtUpMs };
}

async function measure(isReached: () => Promise<boolean>): Promise<number | undefined> {
  const startedAt = performance.now();
  return waitFor(async () => ((await isReached()) ? performance.now() - startedAt : undefined), {
    limitMs: recoveryLimitMs,
    everyMs: 250,
  });
}

async function attemptToAdd({ client }: PlatformBed, users: Iterator<SimulatedUser>): Promise<Attempt> {
  const next = users.next();
  if (next.done === true) throw new Error('no users are left to add');
  const { status, ms } = await client.addStreamer(next.value.login);
  return { status, ms };
}

async function countStreamers({ databaseUrl }: PlatformBed): Promise<number> {
  const [row] = await runSql<{ count: number }>(
    databaseUrl,
    'SELECT count(*)::int AS count FROM streamer_monitor.streamers',
  );
  return row?.count ?? 0;
}
