import { readFileSync } from 'node:fs';
import { makeSmallEvent, nextMarker } from '../fleet/test-events.js';
import { EventSender } from './event-sender.js';
import { LedgerEntry, type Answer, type EventKind } from './ledger.js';
import type { FaultRun, Scenario } from './scenarios.js';

// A batch has at most 256 events. With 400 neighbors, the poison is in the middle of full batches.
const neighbors = 400;

interface Poison {
  what: string;
  eventType?: string;
  /** Fields of the data, as JSON text. */
  members: string;
}

const poisons: readonly Poison[] = [
  {
    what: 'a user name of 10 kB',
    members: `"user_id":"1","user_name":"${'x'.repeat(10_000)}"`,
  },
  {
    what: 'NUL and lone surrogates',
    members: '"user_name":"a\\u0000b","text":"\\u0000 \\ud800 \\udc00\\ud800"',
  },
  { what: 'the number 1e200000', members: '"amount":1e200000' },
  { what: '255 emoji as event type', eventType: '🎉'.repeat(255), members: '"user_id":"1"' },
  { what: '5,000 levels', members: `"deep":${'{"a":'.repeat(5_000)}0${'}'.repeat(5_000)}` },
];

const kinds: readonly EventKind[] = ['notification', 'plain post'];

/** Sends malicious inputs in the middle of full batches. */
export const poisonScenario: Scenario = {
  name: 'poison',
  description:
    `${poisons.map(({ what }) => what).join('; ')}: each as POST and as signed notification, together with ${neighbors} other ` +
    'events. Each input gets 2xx or 4xx, no other event is refused, and no connection or process ends.',
  run: async (run, { poisonRounds }) => {
    await run.load.pause(); // the load's connections and events would disturb the counts and the batches
    const sender = new EventSender(run.bed.system, { connectionsEach: neighbors, keepAlive: true });
    const before = readLife(run.bed);
    for (let round = 0; round < poisonRounds; round += 1) {
      run.countFault();
      await runRound(run, sender);
    }
    sender.close();
    const after = readLife(run.bed);
    const ended = [...before].filter((sign) => !after.has(sign));
    if (ended.length > 0) run.find(`ended: ${ended.join(', ')}`);
  },
};

async function runRound(run: FaultRun, sender: EventSender): Promise<void> {
  const { gateways } = run.bed.system;
  const others = Array.from({ length: neighbors }, () => new LedgerEntry(makeSmallEvent()));
  const bad = poisons.flatMap((poison) => kinds.map((kind) => ({ poison, entry: makePoison(poison, kind) })));
  const middle = neighbors / 2;
  const all = [...others.slice(0, middle), ...bad.map(({ entry }) => entry), ...others.slice(middle)];
  const answers = new Map<LedgerEntry, Answer>();
  await Promise.all(
    all.map(async (entry, index) => {
      const gateway = gateways[index % gateways.length];
      const answer = await sender.send(entry.event, gateway?.url ?? '');
      entry.note(answer);
      answers.set(entry, answer);
    }),
  );
  run.addEntries(all);
  for (const { poison, entry } of bad) {
    const answer = answers.get(entry);
    if (answer?.kind !== 'accepted' && answer?.kind !== 'refused')
      run.find(`${poison.what} (${entry.event.kind}) got ${JSON.stringify(answer)}`);
  }
  const refused = others.filter(({ outcome }) => outcome !== 'accepted');
  if (refused.length > 0)
    run.find(
      `${refused.length} neighbors were not accepted: ${JSON.stringify(answers.get(existing(refused)))}`,
    );
}

function existing(entries: readonly LedgerEntry[]): LedgerEntry {
  const [first] = entries;
  if (!first) throw new Error('expected a value');
  return first;
}

function makePoison({ eventType = 'channel-follow', members }: Poison, kind: EventKind): LedgerEntry {
  const { marker } = nextMarker();
  return new LedgerEntry({ marker, kind, eventType, eventData: `{"marker":"${marker}",${members}}` }, true);
}

/** Lists the services' processes and their NATS connections, which must survive the scenario. */
function readLife({ system, servers }: FaultRun['bed']): Set<string> {
  const processes = [...system.gateways, ...system.events].map(({ app, pid }) => `${app} ${pid}`);
  const port = servers.nats.port.toString(16).toUpperCase().padStart(4, '0');
  const connections = ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((path) => readFileSync(path, 'utf8').split('\n'))
    .map((line) => line.trim().split(/\s+/))
    // Established connections (state 01) to nats-server. A new connection would have another local port.
    .filter(([, , remote, state]) => state === '01' && remote?.endsWith(`:${port}`))
    .map(([, local]) => `NATS connection ${local}`);
  return new Set([...processes, ...connections]);
}
