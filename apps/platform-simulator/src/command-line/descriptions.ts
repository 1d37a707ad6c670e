import type { ScenariosView } from '../scenarios/scenarios.controller.js';
import type { SimulatorView } from '../simulator/simulator.controller.js';
import type { StreamTruth } from '../streams/stream-view.js';

export type StatusView = SimulatorView;

export function describeStatus(view: StatusView): string[] {
  const { seed, rate, users, live_streams, faults, notifications, requests } = view;
  const { sent, accepted, given_up, dropped, missed, refused } = notifications;
  const refusals = Object.entries(refused).map(([result, count]) => `${count} × ${result}`);
  return [
    view.description,
    `seed ${seed}, ${rate} events per second, ${users} users, ${live_streams} live`,
    `faults: ${JSON.stringify(faults)}`,
    `notifications: ${sent} sent, ${accepted} accepted, ${given_up} given up, ${dropped} dropped by conduits, ${missed} skipped`,
    ...(refusals.length > 0 ? [`failed deliveries: ${refusals.join(', ')}`] : []),
    ...Object.entries(requests).map(([route, count]) => `${route}: ${count}`),
  ];
}

export function describeUser(user: {
  id: string;
  login: string;
  display_name: string;
  is_live: boolean;
}): string {
  return `${user.id}  ${user.login}  (${user.display_name})${user.is_live ? '  live' : ''}`;
}

export function describeStreams(streams: readonly StreamTruth[]): string[] {
  if (streams.length === 0) return ['This user has never had a stream.'];
  return streams.map(({ id, started_at, ended_at }) => `${id}  ${started_at}  ${ended_at ?? 'running'}`);
}

export function describeScenarios({ playing, scenarios }: ScenariosView): string[] {
  const rows = Object.entries(scenarios).map(
    ([name, { description }]) => `${name === playing ? '▶' : ' '} ${name}: ${description}`,
  );
  return [...rows, playing === null ? 'No scenario is running.' : `Running: ${playing}`];
}
