import { eventTypeStatus, eventTypeStatuses, type EventTypeStatus } from './event-type-status.js';

const pending = 'webhook_callback_verification_pending';

const cases: [EventTypeStatus, Record<string, number>][] = [
  ['waiting', {}],
  ['waiting', { enabled: 0, refused: 0 }],
  ['waiting', { waiting: 3 }],
  ['waiting', { [pending]: 1, waiting: 2 }],
  ['enabled', { enabled: 1 }],
  ['enabled', { enabled: 5, refused: 0 }],
  ['partly', { enabled: 5, waiting: 1 }],
  ['partly', { enabled: 1, limit_reached: 9 }],
  ['partly', { enabled: 1, authorization_revoked: 1 }],
  ['limited', { limit_reached: 2 }],
  ['limited', { limit_reached: 2, waiting: 5, [pending]: 1 }],
  ['limited', { limit_reached: 2, not_granted: 1 }],
  ['not_granted', { not_granted: 3 }],
  ['not_granted', { not_granted: 3, waiting: 1 }],
  ['partly', { enabled: 1, not_granted: 1 }],
  ['failed', { refused: 1, not_granted: 1 }],
  ['failed', { refused: 1 }],
  ['failed', { refused: 1, limit_reached: 1, waiting: 1 }],
  ['failed', { authorization_revoked: 1 }],
  ['failed', { a_status_that_the_platform_has_added: 1 }],
];

describe(eventTypeStatus.name, () => {
  it.each(cases)('is %s for active subscriptions of %j', (expected, subscriptions) => {
    expect(eventTypeStatus({ active: true, unsupported: null, subscriptions })).toBe(expected);
  });

  it.each(cases)(
    'is inactive for an inactive type and unsupported for an unsupported type (%s, %j)',
    (_, subscriptions) => {
      expect(eventTypeStatus({ active: false, unsupported: null, subscriptions })).toBe('inactive');
      expect(eventTypeStatus({ active: false, unsupported: 'why', subscriptions })).toBe('unsupported');
    },
  );

  it('has a case for each status', () => {
    const words = new Set<string>([...cases.map(([word]) => word), 'inactive', 'unsupported']);

    expect([...words].sort()).toEqual(Object.keys(eventTypeStatuses).sort());
  });
});
