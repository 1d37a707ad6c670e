import { Injectable } from '@nestjs/common';
import { eraseStreamer, listStreamers, type ErasedKind } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import type { ErasureStep, SoughtUser, Stage } from './erasure-step.js';
import type { RunningErasure } from './erasures.repository.js';

/**
 * If the user is a monitored streamer, erases the recorded streams and stops monitoring, which would otherwise collect the same data again.
 * Also deletes the event types that were chosen for the user, even if the user is no longer monitored. If only the hash is known, the stage
 * finds the user only while the user is monitored.
 */
@Injectable()
export class StreamersStage implements Stage {
  readonly name = 'streamers';

  constructor(private readonly client: RequestClient) {}

  async run({ counts, isDryRun }: RunningErasure, user: SoughtUser): Promise<ErasureStep> {
    const platformUserId = user.id ?? (await this.findStreamer(user));
    if (platformUserId === undefined) return { isComplete: true };
    const reply = await this.client.request(eraseStreamer, { platformUserId, isDryRun });
    const totals: [ErasedKind, number][] = [
      ['streamers', reply.streamers],
      ['streams', reply.streams],
      ['stream_samples', reply.streamSamples],
    ];
    const found = totals.filter(([, total]) => total > 0);
    const erased = Object.fromEntries(found.map(([kind, total]) => [kind, { total, fields: {} }]));
    return { isComplete: true, counts: { ...counts, ...erased } };
  }

  /**
   * Searches the monitored streamers, because only the hash of the user's id is known. Returns undefined when the user is not monitored.
   */
  private async findStreamer(user: SoughtUser): Promise<string | undefined> {
    let after: string | undefined;
    do {
      const page = await this.client.request(listStreamers, after === undefined ? {} : { after });
      const streamer = page.streamers.find(({ platformId }) => user.isUser(platformId));
      if (streamer) return streamer.platformId;
      after = page.next ?? undefined;
    } while (after !== undefined);
    return undefined;
  }
}
