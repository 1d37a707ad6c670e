import { parseArgs } from 'node:util';
import { say } from './measure/progress.js';
import type { PartReport } from './measure/promise.js';
import { reportTrial, type Trial } from './measure/system-test-report.js';
import { runChanging } from './platform-load/changing.js';
import { runOutages } from './platform-load/outages.js';
import { PlatformBed, type Size } from './platform-load/platform-bed.js';
import { runShowing } from './platform-load/showing.js';
import { runSubscribing } from './platform-load/subscribing.js';
import { runSweeping } from './platform-load/sweeping.js';

// npm run platform-load: monitors 10,000 streamers on the simulated platform, takes a monitor and the platform away, and
// writes docs/platform-load.md. --quick is short, and only prints.

const trial: Trial = {
  title: 'Trial of the platform side',
  command: 'platform-load',
  sharers: 'Servers, services, the simulated\nplatform and the load shared one machine:',
  setting:
    'One gateway, one events service, two platform connectors and two streamer monitors, each a process of its own, with\n' +
    'embedded PostgreSQL (durable) and nats-server, on the simulated platform over HTTP.',
};
const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const size: Size = flags.quick
  ? {
      streamers: 2_000,
      changingStreamers: 100,
      changingSeconds: 30,
      sweeps: 2,
      outageSeconds: 8,
      baselineSeconds: 4,
    }
  : {
      streamers: 10_000,
      changingStreamers: 500,
      changingSeconds: 120,
      sweeps: 2,
      outageSeconds: 15,
      baselineSeconds: 5,
    };

// In this order: the later parts find the streamers of the first one.
const parts = {
  subscribing: runSubscribing,
  sweeping: runSweeping,
  showing: runShowing,
  changing: runChanging,
  outages: runOutages,
};

async function runAll(bed: PlatformBed): Promise<PartReport[]> {
  const reports: PartReport[] = [];
  for (const [name, run] of Object.entries(parts)) {
    say(`${name}: running`);
    const startedAt = performance.now();
    reports.push(await run(bed));
    say(`${name}: ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }
  return reports;
}

const startedAt = performance.now();
const bed = await PlatformBed.start(size);
try {
  await reportTrial(trial, {
    servers: bed.servers,
    startedAt,
    parts: await runAll(bed),
    isWhole: !flags.quick,
  });
} finally {
  await bed.stop();
}
