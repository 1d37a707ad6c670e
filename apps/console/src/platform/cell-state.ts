import type { ChannelConsent, EventType, Streamer } from './platform-queries.js';

/** The grid's state for an event type of a streamer. */
export type CellState =
  ChannelConsent['states'][string] | 'not_chosen' | 'switched_off' | 'unsupported' | 'disabled' | 'loading';

interface CellLook {
  /** Each state has a different mark, because not everybody can see the colors. */
  mark: string;
  title: string;
  meaning: string;
  /** Whether someone must act. */
  isProblem?: true;
}

/** How the grid shows each state, in legend order. */
export const cellLooks: Readonly<Record<Exclude<CellState, 'loading'>, CellLook>> = {
  granted: { mark: '✓', title: 'Granted', meaning: 'The events arrive.' },
  waiting: {
    mark: '…',
    title: 'Waiting',
    meaning: 'The service is about to subscribe. This usually takes a few seconds.',
  },
  missing: {
    mark: '!',
    title: 'Missing',
    meaning: 'The streamer has not given consent to this event type.',
    isProblem: true,
  },
  revoked: {
    mark: '×',
    title: 'Revoked',
    meaning: 'The streamer has withdrawn consent, so the events no longer arrive.',
    isProblem: true,
  },
  refused: {
    mark: '?',
    title: 'Refused',
    meaning: 'The platform refused or ended the subscription. The service tries again by itself.',
    isProblem: true,
  },
  no_capacity: {
    mark: '#',
    title: 'No capacity',
    meaning:
      'The platform’s limit on subscriptions is reached. Subscriptions for connected channels do not count.',
    isProblem: true,
  },
  not_chosen: {
    mark: '−',
    title: 'Left out',
    meaning: 'The type is on, but not chosen for this streamer.',
  },
  switched_off: { mark: '○', title: 'Switched off', meaning: 'The type is off for all streamers.' },
  disabled: { mark: '/', title: 'Not monitored', meaning: 'The streamer is disabled.' },
  unsupported: { mark: ' ', title: 'Not possible', meaning: 'The service cannot subscribe to this type.' },
};

/** If several reasons keep events from arriving, the first check below decides. */
export function cellStateOf(
  type: Pick<EventType, 'event_type' | 'active' | 'unsupported'>,
  streamer: Pick<Streamer, 'disabled'>,
  consent: Pick<ChannelConsent, 'event_types' | 'states'> | undefined,
): CellState {
  if (type.unsupported !== null) return 'unsupported';
  if (streamer.disabled) return 'disabled';
  if (!type.active) return 'switched_off';
  if (!consent) return 'loading';
  if (consent.event_types !== null && !consent.event_types.includes(type.event_type)) return 'not_chosen';
  return consent.states[type.event_type] ?? 'waiting';
}

export function isProblem(state: CellState): boolean {
  return state !== 'loading' && cellLooks[state].isProblem === true;
}
