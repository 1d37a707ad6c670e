import { parseArgs } from 'node:util';
import { say } from './measure/progress.js';
import type { Section } from './measure/report.js';
import { report, type SystemTest } from './measure/report.js';
import { runChanging } from './platform-load/changing.js';
import { runOutages } from './platform-load/outages.js';
import { PlatformBed, type Size } from './platform-load/platform-bed.js';
import { runLimitStatus } from './platform-load/limit-status.js';
import { runSubscribing } from './platform-load/subscribing.js';
import { runPolling } from './platform-load/polling.js';

// npm run load:platform: monitors 10,000 streamers on the simulated platform, kills a monitor, and makes the platform fail. Writes
// docs/platform-load.md. --quick runs a short version, prints the result, and leaves the page unchanged.

const test: SystemTest = {
  title: 'Platform load test',
  command: 'load:platform',
  page: 'platform-load.md',
  setting:
    'One gateway, one events service, two platform connectors, and two streamer monitors, each in its own process, with embedded PostgreSQL (durable) and nats-server, on the simulated platform over HTTP. Servers, services, simulated platform, and load share one machine.',
};
const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const size: Size = flags.quick
  ? {
      streamers: 2_000,
      changingStreamers: 100,
      changingSeconds: 30,
      pollingPasses: 2,
      outageSeconds: 8,
      baselineSeconds: 4,
    }
  : {
      streamers: 10_000,
      changingStreamers: 500,
      changingSeconds: 120,
      pollingPasses: 2,
      outageSeconds: 15,
      baselineSeconds: 5,
    };

// Keep this order: later parts use the streamers that the first part adds.
const parts = {
  subscribing: runSubscribing,
  polling: runPolling,
  'limit status': runLimitStatus,
  changing: runChanging,
  outages: runOutages,
};

async function runAll(bed: PlatformBed): Promise<Section[]> {
  const reports: Section[] = [];
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
  await report(test, {
    servers: bed.servers,
    startedAt,
    sections: await runAll(bed),
    isWhole: !flags.quick,
  });
} finally {
  await bed.stop();
}
