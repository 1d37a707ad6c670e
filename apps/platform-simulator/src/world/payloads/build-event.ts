import { findEventType } from '@stream-events/platforms';
import { accountBuilders } from './accounts.js';
import { campaignBuilders } from './campaigns.js';
import { channelBuilders } from './channel.js';
import { chatBuilders, chatNoticeBuilders } from './chat.js';
import { moderationJournalBuilders } from './moderation-journal.js';
import { automodBuilders, moderationBuilders } from './moderation.js';
import { rewardBuilders } from './rewards.js';
import type { EventPayload, PayloadBuilders, Scene } from './scene.js';
import { viewerBuilders } from './viewers.js';
import { voteBuilders } from './votes.js';

/** One builder per type, or per type and version. Fields: libs/platforms. Nested shapes: FACTS.md §5.1. */
const builders: PayloadBuilders = {
  ...accountBuilders,
  ...automodBuilders,
  ...campaignBuilders,
  ...channelBuilders,
  ...chatBuilders,
  ...chatNoticeBuilders,
  ...moderationBuilders,
  ...moderationJournalBuilders,
  ...rewardBuilders,
  ...viewerBuilders,
  ...voteBuilders,
};

/**
 * Builds an event with all fields of its type. Default version: the newest.
 *
 * @throws RangeError if the type or version is unknown
 */
export function buildEvent(type: string, version: string | undefined, scene: Scene): EventPayload {
  const row = findEventType(type, version);
  const build = row && (builders[`${type}/${row.version}`] ?? builders[type]);
  if (build === undefined)
    throw new RangeError(`unknown event type: ${type} version ${version ?? '(newest)'}`);
  return build(scene);
}
