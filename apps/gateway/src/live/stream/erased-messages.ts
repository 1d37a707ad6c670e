import { Inject, Injectable } from '@nestjs/common';
import { wereMessagesErased } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';

/** Asks the events service whether messages are missing on the EVENTS stream because of erasures. */
@Injectable()
export class ErasedMessages {
  private readonly failures: FailureLog;

  constructor(
    private readonly client: RequestClient,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.failures = new FailureLog(logger);
  }

  /**
   * Returns whether erasures removed every message from the sequence `from` to the sequence `to` (both inclusive). If so, a client has
   * missed nothing. Returns false when the events service does not reply, because an unnecessary gap is better than silently missed events.
   */
  async wereErased(epoch: string, from: number, to: number): Promise<boolean> {
    if (to < from) return false;
    try {
      return (await this.client.request(wereMessagesErased, { epoch, from, to })).wereErased;
    } catch (err) {
      this.failures.warn('cannot check whether missing events were erased, sending clients a gap', {
        err,
        epoch,
        from,
        to,
      });
      return false;
    }
  }
}
