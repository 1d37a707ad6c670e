import { CountingGroup } from './counting-group.js';
import { EpochNames } from './delivery-log.js';
import type { ClientGroup, FleetCommand, FleetMessage } from './fleet-messages.js';
import { ResumingGroup } from './resuming-group.js';

// `Fleet` forks this module. It runs the clients and replies once to each command.

const epochs = new EpochNames();
const groups = new Map<string, ClientGroup>();

function send(message: FleetMessage): void {
  process.send?.(message);
}

function findGroup(name: string): ClientGroup {
  const group = groups.get(name);
  if (!group) throw new Error(`unknown group of clients: ${name}`);
  return group;
}

function findResumingGroup(name: string): ResumingGroup {
  const group = findGroup(name);
  if (!(group instanceof ResumingGroup)) throw new Error(`the clients of group ${name} do not resume`);
  return group;
}

function execute(command: FleetCommand): unknown {
  const { group: name } = command;
  switch (command.kind) {
    case 'open-resuming':
      groups.set(name, new ResumingGroup(command.plans, epochs));
      return undefined;
    case 'open-counting':
      groups.set(name, new CountingGroup(command.plan, (slowest) => send({ group: name, slowest })));
      return undefined;
    case 'close':
      findGroup(name).close();
      return undefined;
    case 'reopen':
      findResumingGroup(name).reopen();
      return undefined;
    case 'set-reading':
      findResumingGroup(name).setReading(command.isReading);
      return undefined;
    case 'count':
      return findGroup(name).takeCounts();
    case 'judge':
      return findResumingGroup(name).judge(command.history);
    case 'drop':
      groups.get(name)?.close();
      groups.delete(name);
      return undefined;
  }
}

process.on('message', ({ id, command }: { id: number; command: FleetCommand }) => {
  send({ id, result: execute(command) });
});
process.once('disconnect', () => process.exit());
