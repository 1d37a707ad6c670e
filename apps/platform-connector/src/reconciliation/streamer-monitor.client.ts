import { Injectable } from '@nestjs/common';
import { listMonitored } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';

// Five million streamers: a list that goes on after that has no end.
const maxPages = 1_000;

/** Whom the platform shall tell about, by the streamer monitor's word. */
@Injectable()
export class StreamerMonitorClient {
  constructor(private readonly client: RequestClient) {}

  /**
   * The platform's ids of all monitored streamers, those monitored longest first. All pages or nothing: half a list would cost the
   * other half its subscriptions.
   *
   * @throws ServiceError when the streamer monitor does not answer every page
   */
  async listMonitoredIds(signal: AbortSignal): Promise<string[]> {
    const ids: string[] = [];
    let after: string | null = null;
    for (let page = 0; page < maxPages; page += 1) {
      signal.throwIfAborted();
      const reply: { platformIds: string[]; next: string | null } = await this.client.request(
        listMonitored,
        after === null ? {} : { after },
      );
      ids.push(...reply.platformIds);
      if (reply.next === null) return ids;
      after = reply.next;
    }
    throw new Error(`the list of monitored streamers did not end after ${maxPages} pages`);
  }
}
