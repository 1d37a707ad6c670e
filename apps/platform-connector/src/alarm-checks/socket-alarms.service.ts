import { Inject, Injectable } from '@nestjs/common';
import type { AlarmKey } from '@stream-events/contracts';
import { Alarms } from '@stream-events/service';
import { ALARM_TIMES, type AlarmTimes } from '../alarms/alarm-times.js';
import { AlarmsRepository } from '../alarms/alarms.repository.js';
import { HeldAlarms } from './held-alarms.js';
import { conduitDown, SocketFaults, socketsDown, type Faults } from './socket-faults.service.js';

const lostShard = 'shard_lost:';
const lostSocket = `${socketsDown}:`;

/**
 * Raises alarms about sockets without a connection. A socket that is connected again within 30 s, by any connector, raises none. Clears an
 * alarm when its socket is connected again or no longer needed.
 */
@Injectable()
export class SocketAlarms {
  private readonly held: HeldAlarms;

  constructor(
    private readonly faults: SocketFaults,
    private readonly repository: AlarmsRepository,
    alarms: Alarms,
    @Inject(ALARM_TIMES) times: AlarmTimes,
  ) {
    this.held = new HeldAlarms(alarms, times);
  }

  async run(): Promise<void> {
    const faults = await this.faults.find();
    // The open alarms include those that an earlier holder of the lease raised.
    const open = (await this.repository.listOpen()).map(({ key }) => key as AlarmKey); // Safe cast: keys are checked where they arrive.
    for (const key of [...open.filter(isOwn), ...this.held.keys])
      if (!faults.has(key) && !isPartOf(key, faults)) this.held.decide(key, undefined);
    for (const [key, message] of faults) this.held.decide(key, message);
  }

  stop(): void {
    this.held.stop();
  }
}

/** Whether an open alarm about all shards or all sockets already covers this alarm. */
function isPartOf(key: AlarmKey, faults: Faults): boolean {
  return (
    (key.startsWith(lostShard) && faults.has(conduitDown)) ||
    (key.startsWith(lostSocket) && faults.has(socketsDown))
  );
}

function isOwn(key: AlarmKey): boolean {
  return (
    key === conduitDown || key === socketsDown || key.startsWith(lostShard) || key.startsWith(lostSocket)
  );
}
