import { parseArgs } from 'node:util';
import { AttackBed, type AttackPace, type AttackResult } from './attack/attack-bed.js';
import { addressesOf, attacks } from './attack/attacks.js';
import { printSections } from './attack/report.js';
import { say } from './measure/progress.js';
import { report, type SystemTest } from './measure/report.js';

// npm run attack: attacks a gateway on this machine with thousands of connections, and measures how other clients are affected.
// --quick runs a short version; --only NAME runs one attack; --product FOLDER attacks the gateway of another built checkout.

const test: SystemTest = {
  title: 'Attack test',
  command: 'attack',
  setting:
    'One gateway and one events service, each in its own process, with embedded PostgreSQL (durable) and nats-server. Servers, services, load, and attackers share one machine; no packet leaves it.',
};
const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    product: { type: 'string' },
  },
});
const pace: AttackPace = flags.quick ? { rounds: 1, windowSeconds: 8 } : { rounds: 3, windowSeconds: 15 };

const chosen = attacks.filter(({ name }) => flags.only === undefined || name === flags.only);
if (chosen.length === 0)
  throw new Error(
    `unknown attack ${flags.only}; the attacks are ${attacks.map(({ name }) => name).join(', ')}`,
  );
const startedAt = performance.now();
const bed = await AttackBed.start(flags.product);
try {
  const results: AttackResult[] = [];
  for (const attack of chosen)
    for (const addresses of addressesOf(attack)) {
      say(`${attack.name}, ${addresses} addresses: running`);
      results.push(await bed.run(attack, addresses, pace));
    }
  await report(test, {
    servers: bed.servers,
    startedAt,
    sections: printSections(results, await bed.finish()),
  });
} finally {
  await bed.stop();
}
