import { table } from '../measure/report.js';
import { waitFor } from '../measure/progress.js';
import { formatCount, type Section } from '../measure/report.js';
import type { PlatformStatus } from './gateway-client.js';
import type { PlatformBed } from './platform-bed.js';
import { types } from './subscribing.js';

// The platform is asked for its whole list again and again, the more seldom the longer the list is.
const limitMs = 180_000;

/** Looks at how the service shows the subscriptions: of half of the streamers, as there is no room for more. */
export async function runShowing({ client, size }: PlatformBed): Promise<Section> {
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
    title: 'What is shown of the limit',
    paragraphs: [
      '`GET /api/v1/platform/status` told, some time after everything was subscribed, of the subscriptions:',
      table(['status', 'subscriptions'], statuses),
    ],
    promises: [
      {
        promise: `What has no room is shown as \`limit_reached\`, and ${formatCount(polledOnly)} streamers as only polled`,
        measured: `${formatCount(status.subscriptions.limit_reached ?? 0)} subscriptions, ${formatCount(status.streamers.polled_only)} streamers`,
        isKept: isRight(status),
      },
    ],
  };
}
