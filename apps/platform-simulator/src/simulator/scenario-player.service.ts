import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { StreamsService } from '../channels/streams.service.js';
import { NotificationGenerator } from '../notifications/notification-generator.service.js';
import { NotificationSender } from '../notifications/notification-sender.service.js';
import { UsersService } from '../users/users.service.js';
import { Random } from '../world/random.js';
import { World } from '../world/world.js';
import { scenarios, type Act, type PlayScenarioDto, type Scenario, type ScenarioName } from './scenarios.js';

// Number of raiding viewers who follow and chat immediately.
const crowd = 10;

/** Runs one scenario at a time. Random decisions depend only on the seed. */
@Injectable()
export class ScenarioPlayer implements OnModuleDestroy {
  playing: ScenarioName | null = null;
  /** Users created for scenarios. The next scenario uses them again. */
  private readonly created: string[] = [];
  private cast: readonly string[] = [];
  private random = new Random('');
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(World) private readonly world: World,
    @Inject(UsersService) private readonly users: UsersService,
    @Inject(StreamsService) private readonly streams: StreamsService,
    @Inject(NotificationSender) private readonly sender: NotificationSender,
    @Inject(NotificationGenerator) private readonly generator: NotificationGenerator,
  ) {}

  /** Stops the running scenario and starts another. `none` only stops it, and keeps the event rate. */
  play({ name, users, rate, every_ms }: PlayScenarioDto): void {
    clearInterval(this.timer);
    this.playing = null;
    if (name === 'none') return;
    const scenario: Scenario = scenarios[name];
    this.random = new Random(`${this.world.seed}/${name}`);
    this.cast = this.findCast(users ?? scenario.users);
    this.playing = name;
    if (scenario.beginsLive) this.cast.forEach((id) => this.goLive(id));
    this.generator.setRate(rate ?? scenario.rate);
    if (scenario.act === null) return;
    const { kind, everyMs } = scenario.act;
    this.act(kind);
    this.timer = setInterval(() => this.act(kind), every_ms ?? everyMs);
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  private findCast(count: number): string[] {
    if (count === 0) return this.world.channels.map(({ broadcaster }) => broadcaster.id);
    const missing = count - this.created.length;
    if (missing > 0) this.created.push(...this.users.create({ count: missing }).map(({ id }) => id));
    return this.created.slice(0, count);
  }

  private act(kind: Act): void {
    const present = this.cast.filter((id) => this.world.users.find(id) !== undefined);
    switch (kind) {
      case 'turn':
        if (present.length > 0) this.turn(this.random.pick(present));
        return;
      case 'raid': {
        const [raider, target] = this.random.sample(present, 2);
        if (raider !== undefined && target !== undefined) this.raid(raider, target);
      }
    }
  }

  private turn(id: string): void {
    if (this.world.isLive(id)) this.streams.end(id, {});
    else this.goLive(id);
  }

  /** The raider's stream ends, and its viewers move to the target channel. */
  private raid(raider: string, target: string): void {
    [raider, target].forEach((id) => this.goLive(id));
    this.notify('channel.raid', target, raider);
    this.streams.end(raider, {});
    for (let count = 0; count < crowd; count += 1) {
      this.notify('channel.follow', target);
      this.notify('channel.chat.message', target);
    }
  }

  private goLive(id: string): void {
    if (!this.world.isLive(id)) this.streams.start({ user_id: id });
  }

  private notify(type: string, broadcasterId: string, otherBroadcasterId?: string): void {
    this.sender.notifyAll(this.world.describeEvent({ type, broadcasterId, otherBroadcasterId }, new Date()));
  }
}
