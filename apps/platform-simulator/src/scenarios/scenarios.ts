import type { scenarioNames } from '../platform-simulator.config.js';

export type ScenarioName = (typeof scenarioNames)[number];

/** What a scenario does again and again: someone goes live or offline, or a stream ends and raids another. */
export type Act = 'turn' | 'raid';

/** A story that the simulation can play. */
export interface Scenario {
  readonly description: string;
  /** Events that happen by themselves, per second. */
  readonly rate: number;
  /** Made-up users who play it; 0 leaves it to the broadcasters that are there from the beginning. */
  readonly users: number;
  /** Whether everyone who plays it is live when it begins. */
  readonly beginsLive: boolean;
  /** At once, and then again after this time; null when nothing is to be done. */
  readonly act: { readonly kind: Act; readonly everyMs: number } | null;
}

/** The scenarios by name. */
export const scenarios = {
  quiet: {
    description: 'A quiet morning: now and then an event.',
    rate: 0.2,
    users: 0,
    beginsLive: false,
    act: null,
  },
  'busy-evening': {
    description: 'Everybody is live, chat runs, and now and then a stream ends with a raid.',
    rate: 20,
    users: 0,
    beginsLive: true,
    act: { kind: 'raid', everyMs: 60_000 },
  },
  raid: {
    description: 'Every 20 s a stream ends and raids another, whose chat and follower list then fill.',
    rate: 2,
    users: 0,
    beginsLive: true,
    act: { kind: 'raid', everyMs: 20_000 },
  },
  'streamers-on-and-off': {
    description: 'Every second one of 20 made-up streamers goes live or offline.',
    rate: 0,
    users: 20,
    beginsLive: false,
    act: { kind: 'turn', everyMs: 1_000 },
  },
} as const satisfies Record<ScenarioName, Scenario>;
