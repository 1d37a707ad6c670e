import { Inject, Injectable } from '@nestjs/common';
import { wereMessagesErased } from '@stream-events/contracts';
import { RequestClient } from '@stream-events/messaging';
import { FailureLog, LOGGER, type Logger } from '@stream-events/service';

/** Knows which messages are missing on the EVENTS stream because of erasures. Asks the events service, which records them. */
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
   * Whether erasures removed every message from one sequence to another (both inclusive). Then a client has missed nothing. False when
   * the events service does not reply: a gap too many is better than a silent one.
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
