import { spawnSync } from 'node:child_process';
import { FuzzBed } from './fuzz-bed.js';
import { runSchemathesis } from './schemathesis.js';

const canInstall = spawnSync('python3', ['-c', 'import ensurepip']).status === 0;
// Test limit, for the installation and thousands of requests.
const limitMs = 900_000;

/** A short run of what `npm run fuzz` does: every operation of docs/openapi.json, with few examples each. */
describe('the running system and its API description', () => {
  (canInstall ? it : it.skip)(
    'agree, says schemathesis (skipped where python3 cannot make a virtual environment)',
    async () => {
      const bed = await FuzzBed.start();
      try {
        const { cases, findings } = await runSchemathesis(bed, { seed: '1', examples: 1 });
        expect(findings).toEqual([]);
        expect(cases).toBeGreaterThan(1_000);
        // On a busy machine, calls to the simulated platform time out, so this alarm is right.
        const faults = await bed.findFaults();
        expect(faults.filter((fault) => !fault.includes('"key":"platform_unavailable:'))).toEqual([]);
      } finally {
        await bed.stop();
      }
    },
    limitMs,
  );
});
