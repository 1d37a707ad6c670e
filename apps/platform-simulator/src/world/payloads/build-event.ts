import { findEventType } from '@stream-events/platforms';
import { accountBuilders } from './accounts.js';
import { automodBuilders } from './automod.js';
import { campaignBuilders } from './campaigns.js';
import { channelBuilders } from './channel.js';
import { chatBuilders } from './chat.js';
import { chatNoticeBuilders } from './chat-notices.js';
import { moderationBuilders } from './moderation.js';
import { moderationJournalBuilders } from './moderation-journal.js';
import { rewardBuilders } from './rewards.js';
import type { EventPayload, PayloadBuilders, Scene } from './scene.js';
import { viewerBuilders } from './viewers.js';
import { voteBuilders } from './votes.js';

/** How each type is told; its fields are in libs/platforms, nested shapes in docs/platform-facts.md §5.2. */
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
 * Makes an event of this type, of its newest version unless another is named, with every field that it has.
 *
 * @throws RangeError for a type or version that the platform does not have
 */
export function buildEvent(type: string, version: string | undefined, scene: Scene): EventPayload {
  const row = findEventType(type, version);
  const build = row && (builders[`${type}/${row.version}`] ?? builders[type]);
  if (build === undefined) throw new RangeError(`there is no event type ${type} of version ${version}`);
  return build(scene);
}
