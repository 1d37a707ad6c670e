import { Injectable } from '@nestjs/common';
import { listMonitored } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';

// How many pages to read, enough for five million streamers. A longer list means that paging does not end.
const maxPages = 1_000;

/** Sends requests to the streamer monitor. */
@Injectable()
export class StreamerMonitorClient {
  constructor(private readonly client: RequestClient) {}

  /**
   * Returns the ids of all monitored streamers on the platform, in the order in which the streamers were added. If any page fails, the
   * whole list fails. Otherwise, the reconciler would delete the subscriptions of the missing streamers.
   *
   * @throws ServiceError when the streamer monitor does not reply to a request
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
    throw new Error(`cannot list the monitored streamers: paging did not end after ${maxPages} pages`);
  }
}
