import { table } from '../measure/report.js';
import { waitFor } from '../measure/progress.js';
import { formatCount, type Section } from '../measure/report.js';
import type { PlatformStatus } from './gateway-client.js';
import type { PlatformBed } from './platform-bed.js';
import { types } from './subscribing.js';

// Time limit until the API shows the state. The reconciler lists all subscriptions periodically, and less often with a long list.
const limitMs = 180_000;

/** Checks what the API shows when the platform's limit allows subscriptions for only half of the streamers. */
export async function runLimitStatus({ client, size }: PlatformBed): Promise<Section> {
  const polledOnly = size.streamers / types.length;
  const limited = polledOnly * types.length;
  const isRight = ({ subscriptions, streamers }: PlatformStatus): boolean =>
    subscriptions.enabled === limited &&
    subscriptions.limit_reached === limited &&
    streamers.polled_only === polledOnly;
  let status = await client.readStatus();
  await waitFor(
    async () => {
      status = await client.readStatus();
      return isRight(status) || undefined;
    },
    { limitMs, everyMs: 1_000 },
  );
  const statuses = Object.entries(status.subscriptions).map(([name, count]) => [name, formatCount(count)]);
  return {
    title: 'The limit in the status',
    paragraphs: [
      'The subscriptions in `GET /api/v1/platform/status` after the limit was reached:',
      table(['status', 'subscriptions'], statuses),
    ],
    promises: [
      {
        promise: `Subscriptions over the limit are shown as \`limit_reached\`, and ${formatCount(polledOnly)} streamers as polled only`,
        measured: `${formatCount(status.subscriptions.limit_reached ?? 0)} subscriptions, ${formatCount(status.streamers.polled_only)} streamers`,
        isKept: isRight(status),
      },
    ],
  };
}
