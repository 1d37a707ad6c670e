import { IsIn } from 'class-validator';
import { IsOptionalInteger, IsOptionalNumber } from '../http/validation.js';
import { maxRate, scenarioNames } from '../platform-simulator.config.js';
import { maxUsersPerRequest } from '../world/user-directory.js';

export type ScenarioName = (typeof scenarioNames)[number];

/** The step that a scenario repeats. `turn`: a user goes live or offline. `raid`: a stream ends with a raid. */
export type Act = 'turn' | 'raid';

export interface Scenario {
  readonly description: string;
  /** Generated events per second. */
  readonly rate: number;
  /** Number of generated users who take part; 0 uses the initial broadcasters instead. */
  readonly users: number;
  /** Whether all users go live at the start. */
  readonly beginsLive: boolean;
  /** The repeated step; the first one happens immediately. Null for a scenario without steps. */
  readonly act: { readonly kind: Act; readonly everyMs: number } | null;
}

export const scenarios = {
  quiet: {
    description: 'A quiet morning: one event every five seconds.',
    rate: 0.2,
    users: 0,
    beginsLive: false,
    act: null,
  },
  'busy-evening': {
    description: 'All broadcasters are live, chat is busy, and once a minute a stream ends with a raid.',
    rate: 20,
    users: 0,
    beginsLive: true,
    act: { kind: 'raid', everyMs: 60_000 },
  },
  raid: {
    description: 'Every 20 s, a stream ends with a raid; viewers follow the raided channel and chat.',
    rate: 2,
    users: 0,
    beginsLive: true,
    act: { kind: 'raid', everyMs: 20_000 },
  },
  'streamers-on-and-off': {
    description: 'Every second, one of 20 generated streamers goes live or offline.',
    rate: 0,
    users: 20,
    beginsLive: false,
    act: { kind: 'turn', everyMs: 1_000 },
  },
} as const satisfies Record<ScenarioName, Scenario>;

/** Body of `POST /simulator/scenarios`. The scenario defines the defaults. */
export class PlayScenarioDto {
  @IsIn(['none', ...scenarioNames])
  name!: ScenarioName | 'none';

  /** Number of generated users who take part. */
  @IsOptionalInteger(1, maxUsersPerRequest)
  users?: number;

  /** Generated events per second. */
  @IsOptionalNumber(0, maxRate)
  rate?: number;

  /** Milliseconds between two steps. */
  @IsOptionalInteger(10, 3_600_000)
  every_ms?: number;
}
