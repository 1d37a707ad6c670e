import { callLimits, clientCallLimits, type CallLimits } from '../src/platform/retry-schedule.js';

// On a busy machine, a transaction or a reply can take seconds. The limits must stay below a minute, after which a rate limit resets.
// Otherwise, a rate-limited call would wait instead of failing.
const patient = { totalMs: 30_000, attemptMs: 20_000 };

// The limits that most tests use. Look-ups of users and games share one object.
const shortLimits: readonly CallLimits[] = [callLimits.users, clientCallLimits];

/** The product's own limits for look-ups. */
export const productLimits: Readonly<Record<'users' | 'streams', CallLimits>> = {
  users: { ...callLimits.users },
  streams: { ...callLimits.streams },
};

/** Gives calls to the platform more time, for tests that are not about time limits. */
export function setPatientLimits(): void {
  for (const limits of shortLimits) Object.assign(limits, patient);
  setLimits('streams', productLimits.streams);
}

/** Sets the limits of look-ups, for tests about them. `ConnectorSetup.reset` restores the patient limits. */
export function setLimits(endpoint: 'users' | 'streams', limits: Partial<CallLimits>): void {
  Object.assign(callLimits[endpoint], limits);
}
