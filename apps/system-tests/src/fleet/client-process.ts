import { CountingGroup } from './counting-group.js';
import { EpochNames } from './delivery-log.js';
import type { CountingPlan, FleetCall, FleetMessage } from './fleet-messages.js';
import type { ClientPlan } from './resuming-client.js';
import { ResumingGroup } from './resuming-group.js';

// `Fleet` forks this module. It runs the clients and replies once to each call.

const epochs = new EpochNames();
const groups = new Map<string, CountingGroup | ResumingGroup>();

function send(message: FleetMessage): void {
  process.send?.(message);
}

function execute({ group, kind, method, args }: FleetCall): unknown {
  if (method === 'open') {
    const [plan] = args;
    // Safe casts: `Fleet` sends the plan of this kind.
    const opened =
      kind === 'resuming'
        ? new ResumingGroup(plan as readonly ClientPlan[], epochs)
        : new CountingGroup(plan as CountingPlan, (slowest) => send({ group, slowest }));
    groups.set(group, opened);
    return undefined;
  }
  const found = groups.get(group);
  if (!found) throw new Error(`unknown group of clients: ${group}`);
  if (method === 'close') groups.delete(group);
  // Safe cast: `Fleet` calls only methods of this kind of group.
  return (found as unknown as Record<string, (...values: readonly unknown[]) => unknown>)[method]?.(...args);
}

process.on('message', (call: FleetCall) => {
  send({ id: call.id, result: execute(call) });
});
process.once('disconnect', () => process.exit());
